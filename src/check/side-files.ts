import {
  assembleCollections,
  type CollectionPage,
  parseCollectionPage,
  type Parsed,
  parseProfile,
  peopleFolder,
  type Profile,
} from '../catalogue/page/side-file.ts';
import { createFileFault, type Fault } from '../catalogue/page/fault.ts';
import { blockedName, parseBlocked } from '../catalogue/settings/blocked.ts';
import { gitkeep } from '../catalogue/page/layout.ts';
import { type CheckReport, createFileError, type Finding, findPathProblem, toErrorFinding } from './check.ts';
import { type CatalogueSource, listPlaces, sideFolders } from './source.ts';

/** The rules that another file than the faulty one may break. */
export const rulesOfCollections: ReadonlySet<string> = new Set(['one-list-of-bots', 'unknown-bot']);

/** Checks the files beside `bots/`: profiles of authors, collections, and `blocked.json`. @throws when a folder cannot be read */
export async function checkSideFiles(source: CatalogueSource): Promise<CheckReport> {
  const findings: Finding[] = [];
  const contents = new Map<string, Buffer>();
  let files = 0;
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

/** Parses files beside `bots/`. @param contents by their paths */
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

/** Parses a file beside `bots/`. */
export function parseSideFile(path: string, content: string | Buffer): Parsed<Profile | CollectionPage> {
  const [folder, name = ''] = path.split('/');
  const parse = folder === peopleFolder ? parseProfile : parseCollectionPage;
  return parse(name, Buffer.from(content));
}
