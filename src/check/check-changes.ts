import {
  type ChangedFile,
  listTreeChanges,
  listWorkTreeChanges,
  OutputLimitError,
} from '../git/changed-files.ts';
import { fetchMissing } from '../git/fetch.ts';
import { maxObjectBytes, readObjects } from '../git/objects/objects.ts';
import type { RevisionRange } from '../git/revision-range.ts';
import { findingsOfAttributes } from './attribute-rules.ts';
import {
  findChangedMainPage,
  checkChange,
  checkPath,
  checkRemoval,
  checkSwaps,
  checkOutside,
  findFormerMainPages,
} from './change-rules.ts';
import {
  createFileError,
  toErrorFinding,
  checkCatalogue,
  type CheckReport,
  type Finding,
  type ReportOptions,
} from './check.ts';
import { checkDuplicates, type AddedBot } from './duplicates.ts';
import { compareFaults } from '../catalogue/page/fault.ts';
import { checkHistory } from './history-rules.ts';
import { botsFolder, gitkeep, parsePagePath } from '../catalogue/page/layout.ts';
import { maxFileSize, type Page } from '../catalogue/page/page.ts';
import { blockedName, parseBlocked } from '../catalogue/settings/blocked.ts';
import { settingsName } from '../catalogue/settings/settings.ts';
import { isInScope, type Scope } from './scope.ts';
import { openChangedCatalogue } from './settings-change.ts';
import { checkSideFiles, rulesOfCollections } from './side-files.ts';
import { sideFolders } from './source.ts';
import { searchOnDisk, tokenRule } from './token-search.ts';

/** The files that a change may touch; a larger change is refused unread. */
const maxFiles = 1000;

/**
 * Checks a change: the bots of which it changes a file against every rule, and the change itself, with its files outside
 * `bots/` where `scope` is everything, against the rules about changes.
 * @param root the catalogue's folder
 * @throws when `bots/` or a folder in it cannot be read
 */
export async function checkChanges(
  root: string,
  range: RevisionRange,
  scope: Scope,
  options: ReportOptions = {},
): Promise<CheckReport> {
  const { before, after } = range;
  const changes = await (
    after === null
      ? listWorkTreeChanges(root, range, [botsFolder, settingsName, blockedName, ...sideFolders])
      : listTreeChanges(root, before, after)
  ).catch((error: unknown) => {
    if (!(error instanceof OutputLimitError)) throw error;
  });
  const inScope = changes?.filter(({ path }) => isInScope(scope, path)) ?? [];
  if (changes === undefined || inScope.length > maxFiles)
    return { files: inScope.length, findings: [createSizeFinding(inScope)] };
  await fetchChange(root, range, inScope);
  const history = await checkHistory(root, range, (path) => isInScope(scope, path));
  const own = [
    ...range.conflicts.map(createConflictFinding),
    ...inScope.flatMap(checkPath),
    ...checkSwaps(inScope),
    ...(await findingsOfAttributes(root, inScope)),
    ...(after === null ? inScope.flatMap((file) => checkOnDisk(root, file)) : []),
  ];
  const { files, findings } = inScope.some(({ path, kind }) => path === botsFolder && kind !== 'gone')
    ? { files: inScope.length, findings: [] }
    : await checkBots(root, after, inScope, changes, options);
  const known = new Set(own.map(({ path, rule }) => `${rule} ${path}`));
  const others = findings.filter(
    ({ path }) => !known.has(`submodule ${path}`) && !known.has(`regular-file ${path}`),
  );
  const faults = removeRepeats([own, others, ...history.map((finding) => [finding])]);
  const faulty = new Set(faults.map(({ path }) => path));
  const outside = inScope.flatMap(checkOutside).filter(({ path }) => !faulty.has(path));
  return { files, findings: [...faults, ...outside].toSorted(compareFaults) };
}

/** Fetches at once what a partial clone lacks of the file versions that the change adds, and of the folders of its bots. */
async function fetchChange(
  root: string,
  { base, head, before, after }: RevisionRange,
  changes: readonly ChangedFile[],
): Promise<void> {
  const paths = changes.flatMap(({ path, previousPath }) => [path, previousPath ?? path]);
  const folders = paths.flatMap((path) => /^bots\/\d{3}(?=\/)/.exec(path)?.[0] ?? []);
  const beside = concernsSideFiles(changes) ? sideFolders : [];
  const trees = [before, after ?? before].map((id) => `${id}^{tree}`);
  await fetchMissing(
    root,
    [head, `^${base}`],
    [...trees, '--', settingsName, blockedName, ...beside, ...new Set(folders)],
  );
}

/** Checks the bots of the changed files as they are after the change, each as a whole, and the settings if they changed. */
async function checkBots(
  root: string,
  after: string | null,
  inScope: readonly ChangedFile[],
  changes: readonly ChangedFile[],
  options: ReportOptions,
): Promise<CheckReport> {
  const blobs = changes
    .filter(({ previousPath: path }) => path === settingsName || path?.startsWith(`${botsFolder}/`))
    .flatMap(({ previousBlob }) => previousBlob ?? []);
  const formerFiles = await readObjects(root, blobs, maxFileSize);
  const former = findFormerMainPages(changes, formerFiles);
  const paths = inScope.flatMap(({ path, previousPath }) => [path, previousPath ?? path]);
  const changed = new Set(paths);
  const seen = new Set<string>();
  const newcomers: AddedBot[] = [];
  const opened = await openChangedCatalogue(root, after, changes, paths, formerFiles);
  const { source, scope, settings } = opened;
  const beside = concernsSideFiles(changes) ? (await checkSideFiles(source)).findings : [];
  const blocked = parseBlocked(await source.readFile(blockedName));
  const report = await checkCatalogue(source, scope, {
    ...options,
    settings,
    rulesOfBot: (id, files) => {
      seen.add(id);
      const main = findChangedMainPage(files, changed);
      if (main === undefined) return [];
      const before = former.get(id);
      newcomers.push({ id, page: main.page, keys: listNewKeys(main.page, before?.page) });
      return checkChange(main, before);
    },
  }).finally(() => source.close?.());
  const ids = new Set(paths.map((path) => parsePagePath(path)?.id));
  const isOfChange = ({ path, rule }: Finding): boolean => {
    if (path === settingsName) return false;
    const id = parsePagePath(path)?.id;
    const isChanged = paths.some((own) => own === path || own.startsWith(`${path}/`));
    return isChanged || rulesOfSettings.has(rule) || (id !== undefined && ids.has(id));
  };
  const removed = [...former].filter(([id, { path }]) => !seen.has(id) && changed.has(path));
  const findings = [
    ...beside.filter(
      ({ path, rule }) => isSideFile(path) && (changed.has(path) || rulesOfCollections.has(rule)),
    ),
    ...('faults' in blocked ? blocked.faults.map(toErrorFinding) : []),
    ...(source.kindOf(botsFolder) === undefined ? [missingBots] : []),
    ...opened.findings,
    ...(scope === 'everything' ? report.findings.filter(isOfChange) : report.findings),
    ...removed.flatMap(([, page]) => checkRemoval(page)),
    ...(await checkDuplicates(root, after, newcomers)),
  ];
  return { files: report.files, findings };
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

function listNewKeys(page: Page, former: Page | undefined): AddedBot['keys'] {
  return (['name', 'invite'] as const).filter((key) => page.data[key] !== former?.data[key]);
}

function checkOnDisk(root: string, { path, kind }: ChangedFile): Finding[] {
  if (kind !== 'file') return [];
  const found = searchOnDisk(root, path, maxObjectBytes);
  if (found === undefined) return [];
  if (found === 'too large') {
    const message = `the file has more than ${maxObjectBytes / 1024 / 1024} MiB: leave it out, every clone would contain it for good`;
    return [createFileError(path, 'file-size', message)];
  }
  return [toErrorFinding({ path, ...found, rule: tokenRule, message: leakMessage })];
}

const leakMessage =
  'this looks like a bot token: remove it and make a new one (botshelf token, or the Manage link on its page), as others may have read it';

/** Whether people or collections change, or lose a bot that they name. */
function concernsSideFiles(changes: readonly ChangedFile[]): boolean {
  return changes.some(({ path, kind }) => (kind === 'gone' && parsePagePath(path)) || isSideFile(path));
}

/** Joins lists of findings. A list adds none for a path and a rule that a list before it has. */
function removeRepeats(lists: readonly (readonly Finding[])[]): Finding[] {
  const known = new Set<string>();
  return lists.flatMap((list) => {
    const added = list.filter(({ rule, path }) => !known.has(`${rule} ${path}`));
    for (const { rule, path } of added) known.add(`${rule} ${path}`);
    return added;
  });
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
