import { isDeepStrictEqual } from 'node:util';
import type { BotId } from '../bot/id.ts';
import { isSameInvite } from '../bot/invite.ts';
import { toInviteKey, toNameKeys } from '../bot/likeness.ts';
import { compareFaults, type Fault } from '../catalogue/page/fault.ts';
import { botsFolder, gitkeep, parsePagePath } from '../catalogue/page/layout.ts';
import type { FileReader, PageFile } from '../catalogue/page/page-file.ts';
import type { Page } from '../catalogue/page/page.ts';
import { checkFiles, type PageLimits } from '../catalogue/page/rules.ts';
import { parseProfile, peopleFolder } from '../catalogue/page/side-file.ts';
import { blockedName, parseBlocked, type Blocked, nothingBlocked } from '../catalogue/settings/blocked.ts';
import { type CatalogueSettings, readSettings, settingsName } from '../catalogue/settings/settings.ts';
import { isError } from '../lib/errors.ts';
import { quoteValue } from '../lib/text.ts';
import {
  checkBotChange,
  checkOutside,
  checkSwaps,
  sortFindings,
  findChangedMainPage,
  findMainPage,
  checkSettingsChange,
} from './change-rules.ts';
import {
  fetchCommit,
  fetchMissing,
  type ChangedFile,
  listTreeChanges,
  resolveRange,
  type RevisionRange,
  grepLines,
  writeWorkTree,
} from './changed-files.ts';
import {
  createFileError,
  toErrorFinding,
  checkCatalogue,
  type CheckReport,
  type Finding,
  type ReportOptions,
  checkSideFiles,
  rulesOfCollections,
  checkBlocked,
  openCommitSource,
  createScope,
  isInScope,
  type Scope,
  type CatalogueSource,
  listPlaces,
  sideFolders,
} from './check.ts';
import { checkVersions } from './history-rules.ts';

/** The files that a change may touch; a larger change is refused unread. */
const maxFiles = 1000;

/** Files of a work tree that are checked even if Git ignores or does not track them. */
const watched = [botsFolder, settingsName, blockedName, ...sideFolders];

/**
 * Checks a change, which is the difference between two trees. Changed bots are checked against every rule. The change
 * itself, with its files outside `bots/` if `scope` is everything, is checked against the rules about changes.
 * @param root the catalogue's folder
 * @param base the revision that the change is made for
 * @param head the last commit of the change; the work tree if left out
 * @param from the remote that `head` is fetched from, if the clone may not have it
 * @throws {UserError} as fetchCommit, resolveRange and writeWorkTree
 */
export async function checkChanges(
  root: string,
  { base, head, from }: { base: string; head?: string | undefined; from?: string | undefined },
  scope: Scope,
  options: ReportOptions = {},
): Promise<CheckReport> {
  if (head !== undefined && from !== undefined) await fetchCommit(root, from, head);
  try {
    const range = await resolveRange(root, base, head);
    const after = range.after ?? (await writeWorkTree(root, watched));
    const changes = await listTreeChanges(root, range.before, after);
    const inScope = changes.filter(({ path }) => isInScope(scope, path));
    if (inScope.length <= maxFiles)
      return await checkTrees(root, { ...range, after }, inScope, scope, options);
    return { files: inScope.length, findings: [createSizeFinding(inScope)] };
  } catch (error) {
    if (!isError(error, 'list-too-long')) throw error;
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
  return { files, findings: sortFindings([...faults, ...checkOutside(changes, faulty)]) };
}

/** The rules about entries that are not files: their other faults are left out. */
const isUnreadable: ReadonlySet<string> = new Set(['submodule', 'regular-file']);

function toRuleKey({ path, rule }: Finding): string {
  return `${rule} ${path}`;
}

/** Fetches in one go the file versions of the change, and folders of its bots, that a partial clone does not have. */
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

/** The new and the old source of the files. */
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
      files: report.files + Number(refuseMore && settings.found),
      findings: [
        ...(concernsSideFiles(changes) ? await checkBeside(was, now, paths) : []),
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

/**
 * Compares the settings before and after a change. A partial clone fetches what this needs in one request.
 * @param after the commit or tree that `now` reads
 * @param paths the changed paths, each relative to the catalogue's folder
 * @returns the settings after the change; whether they refuse a category or a language that they allowed before, because
 * then all bots have to be checked; and the findings, if the settings or their logo change
 */
async function compareSettings(
  root: string,
  before: CatalogueSource,
  now: CatalogueSource,
  after: string,
  paths: readonly string[],
) {
  const settings = await readSettings(withoutLogo(now.readFile));
  const { logoPath } = settings;
  if (!paths.some((path) => path === settingsName || path === logoPath))
    return { settings, refuseMore: false, findings: [] };
  const former = (await readSettings(withoutLogo(before.readFile))).settings;
  const refuseMore = refusesMore(former, settings.settings);
  // A new name is compared with those of all bots.
  const bots = refuseMore || paths.some((path) => path.startsWith(`${botsFolder}/`)) ? [botsFolder] : [];
  await fetchMissing(root, [`${after}^{tree}`, '--', logoPath ?? settingsName, ...bots]);
  const whole = await readSettings(now.readFile);
  const findings = [...whole.faults.map(toErrorFinding), ...checkSettingsChange(whole, former)];
  return { settings: whole, refuseMore, findings };
}

/** Returns a reader to which only the settings exist: the logo may be one more object to fetch. */
function withoutLogo(read: FileReader): FileReader {
  return async (path) => (path === settingsName ? await read(path) : undefined);
}

/** Whether settings refuse a category or a language that they allowed before. */
function refusesMore(before: CatalogueSettings | undefined, now: CatalogueSettings | undefined): boolean {
  if (now === undefined) return false;
  if (before === undefined) return true;
  const { categories, languages } = now;
  return (
    before.categories.some((category) => !categories.includes(category)) ||
    (languages !== null && !(before.languages?.every((locale) => languages.includes(locale)) ?? false))
  );
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
  const values: NewValue[] = [];
  for (const id of new Set(paths.flatMap((path) => parsePagePath(path)?.id ?? []))) {
    const before = await was.readPages(await listPlaces(was, id));
    const files = await now.readPages(await listPlaces(now, id));
    findings.push(...checkBotChange(before, files));
    const page = findChangedMainPage(before, files)?.page;
    const former = findMainPage(before)?.page?.data;
    for (const key of ['name', 'invite'] as const)
      if (page && page.data[key] !== former?.[key]) values.push({ id, page, key, others: new Set() });
  }
  return [...findings, ...(await checkDuplicates(root, after, values))];
}

/** Returns whether a finding is about one of these paths, its bot, or a value that the settings decide. */
function isOfChange(paths: readonly string[]): (finding: Finding) => boolean {
  const ids = new Set(paths.map((path) => parsePagePath(path)?.id));
  return ({ path, rule }) => {
    const id = parsePagePath(path)?.id;
    const isChanged = paths.some((own) => own === path || own.startsWith(`${path}/`));
    return isChanged || rulesOfSettings.has(rule) || (id !== undefined && ids.has(id));
  };
}

async function checkBeside(was: CatalogueSource, now: CatalogueSource, paths: readonly string[]) {
  const withoutSettings = async (path: string): ReturnType<FileReader> =>
    path === settingsName ? undefined : await now.readFile(path);
  const { findings } = await checkSideFiles({ ...now, readFile: withoutSettings });
  const own = findings.filter(
    ({ path, rule }) => isSideFile(path) && (paths.includes(path) || rulesOfCollections.has(rule)),
  );
  for (const path of new Set(paths)) {
    const [folder, name = ''] = path.split('/');
    const bytes = await now.readFile(path);
    if (folder !== peopleFolder || !Buffer.isBuffer(bytes)) continue;
    const before = await was.readFile(path);
    const former = Buffer.isBuffer(before) ? parseProfile(name, before) : {};
    const parsed = parseProfile(name, bytes, former);
    if ('faults' in parsed)
      own.push(...parsed.faults.filter(({ rule }) => rule === 'address').map(toErrorFinding));
  }
  return own;
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

/** Whether profiles or collections change, or a bot that they name is removed. */
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

/**
 * Warns of main pages whose new name or invite another bot has already. Every page of the commit is searched for these keys
 * without parsing: text that looks like a key counts as one.
 */
async function checkDuplicates(root: string, commit: string, values: readonly NewValue[]) {
  const wanted = new Map<string, NewValue[]>();
  for (const value of values)
    for (const likeness of toComparisonKeys(value.key, value.page.data[value.key]))
      wanted.set(likeness, [...(wanted.get(likeness) ?? []), value]);
  if (wanted.size === 0) return [];
  await fetchMissing(root, [`${commit}^{tree}`, '--', botsFolder]);
  const keys = new Set(values.map(({ key }) => `"${key}"`));
  await grepLines(root, commit, botsFolder, [...keys], (path, line) => {
    for (const [, key, value = ''] of line.matchAll(keyAndText)) {
      const likenesses = toComparisonKeys(key as NewValue['key'], parseJsonString(value));
      for (const { id, others } of likenesses.flatMap((likeness) => wanted.get(likeness) ?? [])) {
        const place = parsePagePath(path);
        if (place && place.id !== id) others.add(path);
      }
    }
  });
  return values.flatMap(listTakenWarnings);
}

/** A new name or invite of a bot. */
interface NewValue {
  readonly id: BotId;
  /** The main page of the bot. */
  readonly page: Page;
  readonly key: 'name' | 'invite';
  /** The paths of other bots' pages with a like value. */
  readonly others: Set<string>;
}

const keyAndText = /"(name|invite)"\s*:\s*("(?:[^"\\]|\\.)*")/g;

function toComparisonKeys(key: NewValue['key'], value: unknown): readonly string[] {
  if (typeof value !== 'string') return [];
  const keys = key === 'name' ? toNameKeys(value) : [toInviteKey(value) ?? []].flat();
  return keys.map((likeness) => `${key} ${likeness}`);
}

/** Parses a JSON string. Most have no escapes. */
function parseJsonString(text: string): unknown {
  if (!text.includes('\\')) return text.slice(1, -1);
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function listTakenWarnings({ page, key, others }: NewValue): Finding[] {
  const [first, ...more] = [...others].toSorted();
  if (first === undefined) return [];
  const also = more.length > 0 ? ` and ${more.length} more` : '';
  const message =
    key === 'name'
      ? `name: ${quoteValue(page.data['name'])} is the name of ${first}${also} already, or looks like it: choose another name, unless this is intended`
      : `invite: ${first}${also} adds the same bot already: edit that page instead of adding another, or correct the invite`;
  return [{ ...page.faultAt([key], `${key}-taken`, message), severity: 'warning' }];
}

/**
 * Checks a proposal: the files of a bot against every rule, and the change itself against the rules about changes. A fault
 * that a file of this path had before is left out, because the proposal did not bring it, but not what is blocked.
 * @param before all page files of the bot in the branch; empty for a new bot
 * @param after all page files of the bot as they would be
 * @param showsReasons whether it says why something is blocked
 * @returns by path, then by line and column
 */
export function checkProposal(
  before: readonly PageFile[],
  after: readonly PageFile[],
  limits: PageLimits,
  blocked: Blocked = nothingBlocked,
  showsReasons = true,
): readonly Finding[] {
  const known = new Set(checkFiles(before, limits).faults.map(toFaultKey));
  const added = checkFiles(after, limits).faults.filter((fault) => !known.has(toFaultKey(fault)));
  const faults = [...added, ...checkBlocked(after, blocked, showsReasons)];
  return [...faults.map(toErrorFinding), ...checkBotChange(before, after)].toSorted(compareFaults);
}

/** Changes that need a review even if authors may change their bots without one. */
export type ReviewedKey = 'authors' | 'verified' | 'legacy' | 'nsfw' | 'invite';

/**
 * Returns the changes of a bot's main page that are always reviewed: `authors`, `verified`, `legacy`, `nsfw` from true to
 * false, and an `invite` that adds another bot, asks for other permissions or has another parameter. None for a new bot,
 * which has a policy of its own. A page that cannot be read has no values.
 * @param before as of `checkProposal`
 */
export function findReviewedChanges(
  before: readonly PageFile[],
  after: readonly PageFile[],
): readonly ReviewedKey[] {
  if (before.length === 0) return [];
  const [was = {}, now = {}] = [before, after].map((files) => findMainPage(files)?.page?.data);
  return (Object.keys(isReviewed) as ReviewedKey[]).filter((key) => isReviewed[key](was[key], now[key]));
}

type IsReviewed = (before: unknown, now: unknown) => boolean;

const isOtherFlag: IsReviewed = (before = false, now = false) => before !== now;

const isReviewed: Readonly<Record<ReviewedKey, IsReviewed>> = {
  authors: (before, now) => !isDeepStrictEqual(withoutOrder(before), withoutOrder(now)),
  verified: isOtherFlag,
  legacy: isOtherFlag,
  nsfw: (before, now) => before === true && now !== true,
  invite: (before, now) => !isSameInvite(String(before), String(now)),
};

function withoutOrder(value: unknown): unknown {
  return Array.isArray(value) ? new Set(value) : value;
}

function toFaultKey({ path, rule, message }: Fault): string {
  return `${path}\n${rule}\n${message}`;
}
