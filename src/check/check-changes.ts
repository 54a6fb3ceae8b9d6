import { compareFaults } from '../catalogue/page/fault.ts';
import { botsFolder, gitkeep, parsePagePath } from '../catalogue/page/layout.ts';
import { blockedName, parseBlocked } from '../catalogue/settings/blocked.ts';
import { settingsName } from '../catalogue/settings/settings.ts';
import { type ChangedFile, ListLimitError, listTreeChanges } from '../git/changed-files.ts';
import { fetchMissing } from '../git/fetch.ts';
import { resolveRange, type RevisionRange } from '../git/revision-range.ts';
import { writeWorkTree } from '../git/work-tree/write-work-tree.ts';
import {
  checkBotChange,
  checkOutside,
  checkSwaps,
  findChangedMainPage,
  findMainPage,
} from './change-rules.ts';
import {
  createFileError,
  toErrorFinding,
  checkCatalogue,
  type CheckReport,
  type Finding,
  type ReportOptions,
} from './check.ts';
import { openCommitSource } from './commit-source.ts';
import { checkDuplicates, type AddedBot } from './duplicates.ts';
import { checkVersions } from './history-rules.ts';
import { createScope, isInScope, type Scope } from './scope.ts';
import { compareSettings } from './settings-change.ts';
import { checkSideFiles, rulesOfCollections } from './side-files.ts';
import { type CatalogueSource, listPlaces, sideFolders } from './source.ts';

/** The files that a change may touch; a larger change is refused unread. */
const maxFiles = 1000;

/** What is checked of a work tree also where Git does not track it, or ignores it. */
const watched = [botsFolder, settingsName, blockedName, ...sideFolders];

/**
 * Checks a change, which is the difference between two trees: the bots of which it changes a file against every rule, and
 * the change itself, with its files outside `bots/` where `scope` is everything, against the rules about changes.
 * @param root the catalogue's folder
 * @param base the revision that the change is made for
 * @param head the last commit of the change; the work tree where left out
 * @throws {UserError} as resolveRange and writeWorkTree
 */
export async function checkChanges(
  root: string,
  { base, head }: { readonly base: string; readonly head?: string | undefined },
  scope: Scope,
  options: ReportOptions = {},
): Promise<CheckReport> {
  const range = await resolveRange(root, base, head);
  try {
    const after = range.after ?? (await writeWorkTree(root, watched));
    const changes = await listTreeChanges(root, range.before, after);
    const inScope = changes.filter(({ path }) => isInScope(scope, path));
    if (inScope.length <= maxFiles)
      return await checkTrees(root, { ...range, after }, inScope, scope, options);
    return { files: inScope.length, findings: [createSizeFinding(inScope)] };
  } catch (error) {
    if (!(error instanceof ListLimitError)) throw error;
    return { files: 0, findings: [createSizeFinding([])] };
  }
}

/** A change whose result is written. */
interface WrittenChange extends RevisionRange {
  readonly after: string;
}

async function checkTrees(
  root: string,
  range: WrittenChange,
  changes: readonly ChangedFile[],
  scope: Scope,
  options: ReportOptions,
): Promise<CheckReport> {
  await fetchChange(root, range, changes);
  const own = [
    ...range.conflicts.map(createConflictFinding),
    ...checkSwaps(changes),
    ...(await checkVersions(root, range, changes, (path) => isInScope(scope, path))),
  ];
  const hasNoBots = changes.some(({ path, kind }) => path === botsFolder && kind !== 'gone');
  const { files, findings } = hasNoBots
    ? { files: changes.length, findings: [] }
    : await checkBots(root, range, changes, options);
  const unreadable = new Set(own.filter(({ rule }) => isUnreadable.has(rule)).map(({ path }) => path));
  const faults = findings.filter(({ path }) => !unreadable.has(path));
  const known = new Set(faults.map(toRuleKey));
  for (const finding of own) {
    if (!known.has(toRuleKey(finding))) faults.push(finding);
    known.add(toRuleKey(finding));
  }
  const faulty = new Set(faults.map(({ path }) => path));
  const outside = changes.flatMap(checkOutside).filter(({ path }) => !faulty.has(path));
  return { files, findings: [...faults, ...outside].toSorted(compareFaults) };
}

/** The rules about what is no file: no other fault of it says more. */
const isUnreadable: ReadonlySet<string> = new Set(['submodule', 'regular-file']);

function toRuleKey({ path, rule }: Finding): string {
  return `${rule} ${path}`;
}

/** Fetches at once what a partial clone lacks of the file versions that the change adds, and of the folders of its bots. */
async function fetchChange(
  root: string,
  { base, head, before, after }: WrittenChange,
  changes: readonly ChangedFile[],
): Promise<void> {
  const folders = listPaths(changes).flatMap((path) => /^bots\/\d{3}(?=\/)/.exec(path)?.[0] ?? []);
  const beside = concernsSideFiles(changes) ? sideFolders : [];
  await fetchMissing(
    root,
    [head, `^${base}`],
    [`${before}^{tree}`, `${after}^{tree}`, '--', settingsName, blockedName, ...beside, ...new Set(folders)],
  );
}

/** Where the files are, and where they were. */
function listPaths(changes: readonly ChangedFile[]): string[] {
  return changes.flatMap(({ path, previousPath }) => [path, previousPath ?? path]);
}

/** Checks the bots of the changed files as they are after the change, each as a whole, and the settings if they changed. */
async function checkBots(
  root: string,
  range: WrittenChange,
  changes: readonly ChangedFile[],
  options: ReportOptions,
): Promise<CheckReport> {
  const { after } = range;
  const paths = listPaths(changes);
  const was = openCommitSource(root, range.before);
  const now = openCommitSource(root, after);
  try {
    const { settings, refuseMore, findings } = await compareSettings(root, was, now, after, paths);
    const blocked = parseBlocked(await now.readFile(blockedName));
    const scope = refuseMore
      ? 'everything'
      : createScope(paths.filter((path) => path.startsWith(`${botsFolder}/`)));
    const report = await checkCatalogue(now, scope, { ...options, settings });
    return {
      files: report.files,
      findings: [
        ...(concernsSideFiles(changes) ? await checkBeside(now, paths) : []),
        ...('faults' in blocked ? blocked.faults.map(toErrorFinding) : []),
        ...((await now.list(botsFolder)).size === 0 ? [missingBots] : []),
        ...findings,
        ...(scope === 'everything' ? report.findings.filter(isOfChange(paths)) : report.findings),
        ...(await compareBots(root, was, now, after, paths)),
      ],
    };
  } finally {
    was.close?.();
    now.close?.();
  }
}

/** Checks the changes of the bots of these paths. */
async function compareBots(
  root: string,
  was: CatalogueSource,
  now: CatalogueSource,
  after: string,
  paths: readonly string[],
): Promise<Finding[]> {
  const findings: Finding[] = [];
  const added: AddedBot[] = [];
  for (const id of new Set(paths.flatMap((path) => parsePagePath(path)?.id ?? []))) {
    const before = await was.readPages(await listPlaces(was, id));
    const files = await now.readPages(await listPlaces(now, id));
    findings.push(...checkBotChange(before, files));
    const page = findChangedMainPage(before, files)?.page;
    const former = findMainPage(before)?.page?.data;
    const keys = (['name', 'invite'] as const).filter((key) => page?.data[key] !== former?.[key]);
    if (page) added.push({ id, page, keys });
  }
  return [...findings, ...(await checkDuplicates(root, after, added))];
}

/** Returns whether a finding is about one of these paths, its bot, or what the settings allow. */
function isOfChange(paths: readonly string[]): (finding: Finding) => boolean {
  const ids = new Set(paths.map((path) => parsePagePath(path)?.id));
  return ({ path, rule }) => {
    if (path === settingsName) return false;
    const id = parsePagePath(path)?.id;
    const isChanged = paths.some((own) => own === path || own.startsWith(`${path}/`));
    return isChanged || rulesOfSettings.has(rule) || (id !== undefined && ids.has(id));
  };
}

async function checkBeside(now: CatalogueSource, paths: readonly string[]): Promise<Finding[]> {
  const { findings } = await checkSideFiles(now);
  return findings.filter(
    ({ path, rule }) => isSideFile(path) && (paths.includes(path) || rulesOfCollections.has(rule)),
  );
}

function isSideFile(path: string): boolean {
  return sideFolders.some((folder) => path.startsWith(`${folder}/`));
}

const missingBots = createFileError(
  botsFolder,
  'bots-folder',
  `this leaves no file in ${botsFolder}/, and Git keeps no empty folder: add an empty file ${botsFolder}/${gitkeep}`,
);

/** The rules for pages that the settings decide: the category, and the language. */
const rulesOfSettings = new Set(['enum', 'language']);

/** Whether people or collections change, or lose a bot that they name. */
function concernsSideFiles(changes: readonly ChangedFile[]): boolean {
  return changes.some(({ path, kind }) => (kind === 'gone' && parsePagePath(path)) || isSideFile(path));
}

function createConflictFinding(path: string): Finding {
  const message =
    'Git cannot merge this: merge the branch that it goes to into the change, resolve the conflict there, and commit';
  return createFileError(path, 'merge-conflict', message);
}

function createSizeFinding(changes: readonly ChangedFile[]): Finding {
  const count = changes.length || 'tens of thousands of';
  const message = `this change touches ${count} files, and at most ${maxFiles} are checked: split it into several pull requests`;
  return createFileError(changes[0]?.path ?? botsFolder, 'change-size', message);
}
