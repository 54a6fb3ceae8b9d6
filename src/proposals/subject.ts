import { parseAccountId } from '../bot/account.ts';
import { type BotId, parseBotId } from '../bot/id.ts';
import { collectionsFolder, parseCollectionName } from '../catalogue/page/collection.ts';
import { botsFolder, folderOf, parsePagePath } from '../catalogue/page/layout.ts';
import { parseProfileName, peopleFolder } from '../catalogue/page/profile.ts';
import { parseTree } from '../git/objects/tree.ts';
import type { Repository } from '../git/repository.ts';

/** What a proposal is about: a bot, by its id; the profile of an account; or a collection. It is a part of paths and refs. */
export type Subject = BotId | `profile-${string}` | `collection-${string}`;

/** Path, relative to the catalogue's folder → the text of a file. */
export type FileTexts = ReadonlyMap<string, string>;

/** Returns `text` as a subject; undefined where it is none. */
export function parseSubject(text: string): Subject | undefined {
  const [, kind, name = ''] = /^(profile|collection)-(.+)$/.exec(text) ?? [];
  if (kind === 'profile') return parseAccountId(name) && `profile-${name}`;
  if (kind === 'collection') return findSubject(`${collectionsFolder}/${name}.en.md`);
  return parseBotId(text);
}

export function isBot(subject: Subject): subject is BotId {
  return parseBotId(subject) !== undefined;
}

/** Returns what the file at a path is about; undefined where that is nothing that can be proposed. */
export function findSubject(path: string, prefix = ''): Subject | undefined {
  if (!path.startsWith(prefix)) return undefined;
  const [top, name = '', ...rest] = path.slice(prefix.length).split('/');
  if (top === botsFolder) return parsePagePath(path, prefix)?.id;
  if (rest.length > 0) return undefined;
  if (top === peopleFolder) return parseProfileName(name) && `profile-${parseProfileName(name)}`;
  const collection = top === collectionsFolder ? parseCollectionName(name) : undefined;
  return collection && `collection-${collection.name}`;
}

/** Returns the folder that the files of a subject are in, relative to the catalogue's. */
export function toSubjectFolder(subject: Subject): string {
  if (isBot(subject)) return `${botsFolder}/${folderOf(subject)}`;
  return subject.startsWith('profile-') ? peopleFolder : collectionsFolder;
}

/** Returns the path of the page that shows a subject. */
export function toSubjectPath(subject: Subject): string {
  if (isBot(subject)) return `/bots/${subject}`;
  return subject.replace(/^profile-/, '/authors/').replace(/^collection-/, '/collections/');
}

/** Reads all files of a subject in a commit. @throws {GitError} */
export async function readFileTexts(
  { objects, hash, prefix }: Repository,
  commit: string,
  subject: Subject,
): Promise<FileTexts> {
  const folder = toSubjectFolder(subject);
  const tree = await objects.readOne(`${commit}:${prefix}${folder}`);
  const entries = tree?.type === 'tree' ? [...parseTree(tree.content, hash)] : [];
  const files = entries.flatMap(([name, { mode, id }]) => {
    const path = `${folder}/${name}`;
    return mode.startsWith('100') && findSubject(path) === subject ? [{ path, id }] : [];
  });
  const blobs = await objects.read(files.map(({ id }) => id));
  return new Map(files.map(({ path }, i) => [path, blobs[i]?.content.toString() ?? '']));
}
