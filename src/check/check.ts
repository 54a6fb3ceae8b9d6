import { type Dirent, existsSync, lstatSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, posix } from 'node:path';
import type { BotId } from '../bot/id.ts';
import { listNumbers } from '../bot/invite.ts';
import { compareFaults, type Fault, createFileFault } from '../catalogue/page/fault.ts';
import {
  botsFolder,
  type FilePlace,
  folderOf,
  gitkeep,
  isFolderName,
  strayMessage,
  groupByBot,
  listTop,
  pathOf,
} from '../catalogue/page/layout.ts';
import {
  type PageFile,
  readPageFile,
  maxReadSize,
  notAFile,
  toPageFile,
  createDiskReader,
  type FileReader,
} from '../catalogue/page/page-file.ts';
import { checkFiles, noLimits, isMainPage, isReadable } from '../catalogue/page/rules.ts';
import {
  assembleCollections,
  type CollectionPage,
  collectionsFolder,
  parseCollectionPage,
  type Parsed,
  parseProfile,
  peopleFolder,
  type Profile,
} from '../catalogue/page/side-file.ts';
import {
  type Blocked,
  blockedName,
  BlockError,
  nothingBlocked,
  parseBlocked,
  type BlockedName,
  describeBlocked,
  findBlocked,
} from '../catalogue/settings/blocked.ts';
import { readSettings, type SettingsReading } from '../catalogue/settings/settings.ts';
import { type BotIndex, type IndexedBot, parseListElement } from '../catalogue/store/bot-index.ts';
import { ObjectReader, parseTree, toKind, type TreeEntry } from '../git/objects.ts';
import { runCommandLineGit } from '../git/run-git.ts';
import { formatCount } from '../lib/text.ts';
import { forEachInSlices } from '../lib/time-slice.ts';
import { splitIntoParts, WorkerPool } from '../lib/worker-pool.ts';

/**
 * A result of a check for one file. An error fails the check, a warning may be a mistake, and a notice needs a
 * maintainer's review.
 */
export interface Finding extends Fault {
  readonly severity: 'error' | 'warning' | 'notice';
}

export interface CheckReport {
  /** The number of files that were checked. */
  readonly files: number;
  /** By path, then by line and column. */
  readonly findings: readonly Finding[];
}

/** The options of every check. */
export interface ReportOptions {
  /** The blocked list of a private file: no message has its reasons. Read from the catalogue if left out. */
  readonly privateBlocked?: Blocked | undefined;
  /** Receives the number of files that are checked so far, and the share of all folders, up to 1. */
  readonly onProgress?: (files: number, share: number) => void;
}

/**
 * Checks the bots of a part of a catalogue against every rule. A bot is checked as a whole when one of its files is in
 * the part, because some rules are about its files together.
 * @param options with the settings of the catalogue; read from the source if left out
 * @throws when a folder cannot be read
 */
export async function checkCatalogue(
  source: CatalogueSource,
  scope: Scope,
  options: ReportOptions & { readonly settings?: SettingsReading } = {},
): Promise<CheckReport> {
  const findings: Finding[] = [];
  let files = 0;
  const { privateBlocked, settings = await readSettings(source.readFile) } = options;
  const limits = settings.settings ?? noLimits;
  const own = parseBlocked(await source.readFile(blockedName));
  const blocked = privateBlocked ?? ('value' in own ? own.value : nothingBlocked);
  const tops = [...(await source.list(botsFolder))];
  for (const [done, [top, kind]] of tops.entries()) {
    const names = listNamesInScope(scope, top);
    const folder = `${botsFolder}/${top}`;
    if (names === undefined || (top === gitkeep && (await source.readFile(folder))?.length === 0)) continue;
    if (kind !== 'folder' || !isFolderName(top)) {
      files += 1;
      const problem = findPathProblem(folder, kind) ?? createFileFault(folder, 'stray-file', strayMessage);
      findings.push(toErrorFinding(problem));
      continue;
    }
    const entries = await source.list(folder);
    const { bots, misplaced } = groupByBot(top, entries.keys());
    const wanted = names === 'everything' ? bots : groupByBot(top, names).bots;
    for (const [name, fault] of misplaced) {
      if (names !== 'everything' && !names.has(name)) continue;
      files += 1;
      findings.push(toErrorFinding(findPathProblem(fault.path, entries.get(name)) ?? fault));
    }
    for (const [id, places] of bots) {
      if (!wanted.has(id)) continue;
      const pages = await source.readPages(places);
      files += pages.length;
      findings.push(
        ...checkFiles(pages, limits).faults.map(toErrorFinding),
        ...checkBlocked(pages, blocked, privateBlocked === undefined).map(toErrorFinding),
      );
    }
    options.onProgress?.(files, (done + 1) / tops.length);
  }
  return { files, findings: findings.toSorted(compareFaults) };
}

/**
 * Checks a part of the catalogue in the folder `root` as checkCatalogue does, in a thread for each core where the part is
 * large; with all of it also the files next to `bots/`.
 * @throws when `bots/` or a folder in it cannot be read
 */
export async function checkInThreads(
  root: string,
  scope: Scope,
  options: ReportOptions = {},
): Promise<CheckReport> {
  const bots = await checkBots(root, scope, options);
  if (scope !== 'everything') return bots;
  const sideFiles = await checkSideFiles(createFolderSource(root));
  const findings = [...bots.findings, ...sideFiles.findings].toSorted(compareFaults);
  return { files: bots.files + sideFiles.files, findings };
}

async function checkBots(root: string, scope: Scope, options: ReportOptions): Promise<CheckReport> {
  const tops = listTop(root).filter((top) => listNamesInScope(scope, top) !== undefined);
  const threads = Math.min(availableParallelism(), maxThreads, Math.floor(tops.length / foldersPerThread));
  if (threads < 2) return await checkCatalogue(createFolderSource(root), scope, options);

  const module = new URL(import.meta.url);
  const pool = new WorkerPool<typeof checkPart>(module, 'checkPart', { threads });
  let [files, done] = [0, 0];
  try {
    const reports = await Promise.all(
      splitIntoParts(tops, foldersPerTask).map(async (part) => {
        const names = new Map(part.map((top) => [top, listNamesInScope(scope, top) ?? new Set<string>()]));
        const report = await pool.run({ root, scope: names, privateBlocked: options.privateBlocked });
        files += report.files;
        done += part.length;
        options.onProgress?.(files, done / tops.length);
        return report;
      }),
    );
    return { files, findings: reports.flatMap(({ findings }) => findings).toSorted(compareFaults) };
  } finally {
    await pool.close();
  }
}

/** Runs in a thread. */
export async function checkPart(part: {
  readonly root: string;
  readonly scope: Scope;
  readonly privateBlocked: ReportOptions['privateBlocked'];
}): Promise<CheckReport> {
  return await checkCatalogue(createFolderSource(part.root), part.scope, part);
}

/** With more threads, they wait for each other's file system calls. */
const maxThreads = 4;

/** A thread takes a fifth of a second to start. */
const foldersPerThread = 100;

const foldersPerTask = 20;

/** Returns a fault as a finding that fails the check. */
export function toErrorFinding(fault: Fault): Finding {
  return { ...fault, severity: 'error' };
}

/** Returns a finding that fails the check, about a file as a whole. */
export function createFileError(path: string, rule: string, message: string): Finding {
  return toErrorFinding(createFileFault(path, rule, message));
}

export const submoduleMessage =
  'this is a submodule: put the pages themselves here, a clone does not contain its files';

/** Returns the fault of an entry that does harm, besides having no place in the catalogue. */
function findPathProblem(path: string, kind: EntryKind | undefined): Fault | undefined {
  const fault = (rule: string, message: string): Fault => createFileFault(path, rule, message);
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (kind === 'symlink')
    return fault('regular-file', 'this is a symbolic link: remove it, pages are regular files');
  if (kind === 'submodule' || name === '.git') return fault('submodule', submoduleMessage);
  if (name === '.gitattributes' || name === '.gitmodules')
    return fault('git-attributes', `${name} changes what Git does with the catalogue: remove it`);
  if (kind === 'other') return fault('regular-file', 'this is not a regular file: remove it');
  return undefined;
}

/** The rules that another file than the faulty one may break. */
export const rulesOfCollections: ReadonlySet<string> = new Set(['one-list-of-bots', 'unknown-bot']);

/** Checks the files next to `bots/`: settings, profiles, collections and `blocked.json`. @throws when a folder cannot be read */
export async function checkSideFiles(source: CatalogueSource): Promise<CheckReport> {
  const settings = await readSettings(source.readFile);
  const findings = settings.faults.map(toErrorFinding);
  const contents = new Map<string, Buffer>();
  let files = Number(settings.found);
  const top = await source.list('.');
  for (const folder of sideFolders) {
    const kind = top.get(folder);
    if (kind !== undefined && kind !== 'folder') {
      const message = `${folder} has to be a folder: rename what is there`;
      findings.push(createFileError(folder, 'regular-file', message));
      continue;
    }
    for (const [name, kind] of await source.list(folder)) {
      if (name === gitkeep) continue;
      files++;
      const path = `${folder}/${name}`;
      const bytes = await source.readFile(path);
      const problem = findPathProblem(path, kind);
      const message = typeof bytes === 'string' ? bytes : 'this is not a file: remove it';
      if (problem === undefined && Buffer.isBuffer(bytes)) contents.set(path, bytes);
      else findings.push(toErrorFinding(problem ?? createFileFault(path, 'regular-file', message)));
    }
  }
  const blocked = await source.readFile(blockedName);
  const parsed = parseBlocked(blocked);
  if (blocked !== undefined) files++;
  if ('faults' in parsed) findings.push(...parsed.faults.map(toErrorFinding));
  const { faults, collections } = parseSideFiles(contents);
  findings.push(...faults.map(toErrorFinding));
  for (const collection of collections.values())
    for (const [i, id] of (collection.bots ?? []).entries())
      if ((await listPlaces(source, id)).length === 0) {
        const message = `bots[${i}]: ${id} is not listed: remove it from the collection`;
        findings.push({ ...collection.faultAt(i, 'unknown-bot', message), severity: 'warning' });
      }
  return { files, findings };
}

/** Parses files next to `bots/`. @param contents by their paths */
export function parseSideFiles(contents: ReadonlyMap<string, string | Buffer>): {
  readonly faults: readonly Fault[];
  /** The valid files of collections by their names. */
  readonly collections: ReadonlyMap<string, CollectionPage>;
} {
  const faults: Fault[] = [];
  const collections = new Map<string, CollectionPage>();
  for (const [path, content] of contents) {
    const parsed = parseSideFile(path, content);
    if ('faults' in parsed) faults.push(...parsed.faults);
    else if ('faultAt' in parsed.value) collections.set(path.slice(path.indexOf('/') + 1), parsed.value);
  }
  return { faults: [...faults, ...assembleCollections(collections).faults], collections };
}

/** Parses a file next to `bots/`. */
export function parseSideFile(path: string, content: string | Buffer): Parsed<Profile | CollectionPage> {
  const [folder, name = ''] = path.split('/');
  const parse = folder === peopleFolder ? parseProfile : parseCollectionPage;
  return parse(name, Buffer.from(content));
}

/** A part of the catalogue: all of it, or names in `bots/` with all or some of the names in each. */
export type Scope = 'everything' | ReadonlyMap<string, 'everything' | ReadonlySet<string>>;

/** Returns the part that has these paths, each relative to the catalogue's folder and at or below `bots/`. */
export function createScope(paths: Iterable<string>): Scope {
  const scope = new Map<string, 'everything' | Set<string>>();
  for (const path of paths) {
    const [, top, name] = path.split('/');
    if (top === undefined) return 'everything';
    const names = scope.get(top);
    if (name === undefined || names === 'everything') scope.set(top, 'everything');
    else if (names) names.add(name);
    else scope.set(top, new Set([name]));
  }
  return scope;
}

/** Returns the names of `bots/<top>/` in the part, or undefined. */
export function listNamesInScope(scope: Scope, top: string): 'everything' | ReadonlySet<string> | undefined {
  return scope === 'everything' ? 'everything' : scope.get(top);
}

/** Whether a path relative to the catalogue's folder is in the part. */
export function isInScope(scope: Scope, path: string): boolean {
  if (scope === 'everything') return true;
  const [bots, top = '', name = ''] = path.split('/');
  const names = bots === botsFolder ? scope.get(top) : undefined;
  return names === 'everything' || (names?.has(name) ?? false);
}

/** The kinds of entries at a path of a catalogue. */
export type EntryKind = 'file' | 'folder' | 'symlink' | 'submodule' | 'other';

/** The catalogue that a check reads: a folder on disk, or a commit. Paths are relative to its folder. */
export interface CatalogueSource {
  /** Returns the entries of a folder by name; empty if it does not exist. @throws if it cannot be read */
  list(folder: string): Listing | Promise<Listing>;
  /** Reads the files of bots at these places. A file that does not exist is left out. */
  readPages(places: readonly FilePlace[]): readonly PageFile[] | Promise<readonly PageFile[]>;
  readonly readFile: FileReader;
  /** Releases what reading needed. */
  close?(): void;
}

type Listing = ReadonlyMap<string, EntryKind>;

/** The folders next to `bots/`. */
export const sideFolders: readonly string[] = [peopleFolder, collectionsFolder];

export function createFolderSource(root: string): CatalogueSource {
  return {
    list: (folder) => {
      const path = join(root, folder);
      if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return new Map();
      const entries = readdirSync(path, { withFileTypes: true });
      const inOrder = entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      return new Map(inOrder.map((entry) => [entry.name, toEntryKind(path, entry)]));
    },
    readPages: (places) => places.flatMap((place) => readPageFile(root, place) ?? []),
    readFile: createDiskReader(root),
  };
}

/** Returns the places of a bot's files. */
export async function listPlaces(source: CatalogueSource, id: BotId): Promise<readonly FilePlace[]> {
  const folder = folderOf(id);
  const names = (await source.list(`${botsFolder}/${folder}`)).keys();
  return groupByBot(folder, names).bots.get(id) ?? [];
}

function toEntryKind(folder: string, entry: Dirent): EntryKind {
  if (entry.isSymbolicLink()) return 'symlink';
  if (entry.isDirectory()) return existsSync(join(folder, entry.name, '.git')) ? 'submodule' : 'folder';
  return entry.isFile() ? 'file' : 'other';
}

/**
 * Opens the catalogue in a commit or a tree. It is read from Git's objects, not checked out: so no link is followed, no
 * attribute has an effect, and a file that is too large is not read.
 */
export function openCommitSource(root: string, commit: string): CatalogueSource {
  const objects = new ObjectReader(root);
  const trees = new Map<string, Promise<ReadonlyMap<string, TreeEntry>>>();
  const openTree = async (folder: string): Promise<ReadonlyMap<string, TreeEntry>> => {
    const tree = trees.get(folder) ?? readTree(folder);
    trees.set(folder, tree);
    return await tree;
  };
  const readTree = async (folder: string): Promise<ReadonlyMap<string, TreeEntry>> => {
    const { mode, id } = (await (folder === '.' ? findTop() : findEntry(folder))) ?? { mode: '', id: '' };
    const tree = toKind(mode) === 'folder' ? await objects.readOne(id) : undefined;
    return tree ? parseTree(tree.content, tree.id.length === 64 ? 'sha256' : 'sha1') : new Map();
  };
  const findTop = async (): Promise<TreeEntry> => {
    const prefix = await runCommandLineGit(root, ['rev-parse', '--show-prefix']);
    return { mode: '40000', id: `${commit}:${prefix.replace(/\n$/, '')}` };
  };
  const findEntry = async (path: string): Promise<TreeEntry | undefined> =>
    (await openTree(posix.dirname(path))).get(posix.basename(path));
  const readFile: FileReader = async (path) => {
    const entry = await findEntry(path);
    if (entry === undefined) return undefined;
    const kind = toKind(entry.mode);
    if (kind !== 'file') return notAFile[kind];
    // A file that is too large to be read is too large for its rules, too.
    return (await objects.readOne(entry.id))?.content ?? Buffer.alloc(maxReadSize + 1);
  };
  const readPage = async (place: FilePlace): Promise<PageFile | []> =>
    toPageFile(place, await readFile(pathOf(place.id, place.locale)), 'sha1') ?? [];
  return {
    list: async (folder) =>
      new Map([...(await openTree(folder))].map(([name, { mode }]) => [name, toKind(mode)])),
    readPages: async (places) => (await Promise.all(places.map(readPage))).flat(),
    readFile,
    close: () => objects.close(),
  };
}

/** The name of the rule. */
export const blockedRule = 'blocked';

/**
 * Finds blocked values among a bot's id, OAuth clients and authors, and the hosts of addresses on its main page.
 * @param showsReasons whether messages say why: they are then for maintainers
 */
export function checkBlocked(files: readonly PageFile[], blocked: Blocked, showsReasons: boolean): Fault[] {
  const main = files.filter(isReadable).find(isMainPage);
  if (main === undefined || blocked === nothingBlocked) return [];
  const { id, page } = main;
  const places = listTexts(page.data).map(({ place, text }) => {
    if (place[0] === 'authors') return { place, named: { authors: [text] } };
    return { place, named: { addresses: [text], bots: listClients({ [String(place[0])]: text }) } };
  });
  return [{ place: [], named: { bots: [id] } }, ...places].flatMap(({ place, named }) =>
    findBlocked(blocked, named).map((name) =>
      page.faultAt(place, blockedRule, describeBlocked(name, showsReasons)),
    ),
  );
}

/** Returns the blocked values of a listed bot. */
export function findBlockedIn(bot: IndexedBot, blocked: Blocked): BlockedName[] {
  const { invite, oauth, website, support, images } = parseListElement(bot);
  const addresses = [invite, website, support, images.avatar, images.cover, ...images.preview];
  const bots = new Set([bot.id, ...listClients({ invite, oauth })]);
  return findBlocked(blocked, { bots: [...bots], authors: bot.facts.authors, addresses });
}

/**
 * Returns the listed bots that a new entry of the blocked list would affect.
 * @throws {BlockError} common-host, for a host that most of the bots have an address at
 */
export async function listBotsToBlock(
  bots: Pick<BotIndex, 'sorted'>,
  { kind, name }: BlockedName,
): Promise<readonly IndexedBot[]> {
  const only: Blocked = { ...nothingBlocked, [`${kind}s`]: { [name]: {} } };
  const all = await bots.sorted();
  const found: IndexedBot[] = [];
  await forEachInSlices(all, (bot) => {
    if (findBlockedIn(bot, only).length > 0) found.push(bot);
  });
  const has = `${formatCount(found.length, 'bot')} of ${all.length} have an address at ${name}`;
  if (kind === 'host' && found.length > minCommonHost && found.length > all.length / 2)
    throw new BlockError('common-host', `${has}: block accounts or bots instead`);
  return found;
}

/** A host with at most this many bots can be blocked, even if these are most of the catalogue. */
const minCommonHost = 10;

/** Returns the OAuth clients that a bot may have, so that a blocked bot stays blocked under another id of its page. */
function listClients({ invite = '', oauth }: { invite?: string; oauth?: string | null }): string[] {
  return [...new Set([...listNumbers(invite), ...(oauth ? [oauth] : [])])];
}

interface PlacedText {
  readonly place: readonly (string | number)[];
  readonly text: string;
}

/** Returns all texts of a value of JSON. */
function listTexts(value: unknown, place: PlacedText['place'] = []): PlacedText[] {
  if (typeof value === 'string') return [{ place, text: value }];
  if (Array.isArray(value)) return value.flatMap((entry, i) => listTexts(entry, [...place, i]));
  return Object.entries(value ?? {}).flatMap(([key, entry]) => listTexts(entry, [...place, key]));
}
