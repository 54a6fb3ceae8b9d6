import type { BotId } from '../bot/id.ts';
import { findOtherClient, isServerInvite } from '../bot/invite.ts';
import { toInviteKey } from '../bot/likeness.ts';
import { asksForAdministrator } from '../bot/permissions.ts';
import type { ChangedFile } from '../git/changed-files.ts';
import { createFileError, toErrorFinding, type Finding, submoduleMessage } from './check.ts';
import { createFileFault, findPosition } from '../catalogue/page/fault.ts';
import { createLocator } from '../lib/edit-json.ts';
import { quoteValue } from '../lib/quote-value.ts';
import { botsFolder, parsePagePath } from '../catalogue/page/layout.ts';
import type { Page } from '../catalogue/page/page.ts';
import type { PageFile } from '../catalogue/page/page-file.ts';
import { parseProfileName, peopleFolder } from '../catalogue/page/profile.ts';
import { isMainPage, isReadable, type ReadablePage } from '../catalogue/page/rules.ts';
import type { SettingsReading } from '../catalogue/settings/read-settings.ts';
import { blockedName } from '../catalogue/settings/blocked.ts';
import { type CatalogueSettings, settingsName } from '../catalogue/settings/settings.ts';
import { sideFolders } from './source.ts';
import { holdsToken, tokenRule } from './token-search.ts';

/**
 * Finds what a change of a bot may not do, and what a maintainer has to review.
 * @param before all page files of the bot; none for a new bot
 * @param after all page files of the bot as they would be; none for one that is removed
 */
export function checkBotChange(before: readonly PageFile[], after: readonly PageFile[]): Finding[] {
  const former = findMainPage(before);
  if (former && after.length === 0) return [createRemovalNotice(former)];
  const main = findChangedMainPage(before, after);
  return main ? checkMainPage(main, former) : [];
}

/** Returns the main page. A page that cannot be parsed counts as the main page where no other is. */
export function findMainPage(files: readonly PageFile[]): PageFile | undefined {
  return files.filter(isReadable).find(isMainPage) ?? files.find((file) => !isReadable(file));
}

/** Returns the main page after a change where its bytes are others than before, and it can be parsed. */
export function findChangedMainPage(
  before: readonly PageFile[],
  after: readonly PageFile[],
): ReadablePage | undefined {
  const main = findMainPage(after);
  return main && isReadable(main) && main.sha !== findMainPage(before)?.sha ? main : undefined;
}

function checkMainPage({ id, page }: ReadablePage, former: PageFile | undefined): Finding[] {
  return [
    ...warnOfUnreadable(page, former),
    ...ensureCreatedStays(page, former?.page),
    ...ensureNotInFuture(page, former?.page),
    ...checkMaintainerKey(page, former?.page, 'verified'),
    ...checkMaintainerKey(page, former?.page, 'legacy'),
    ...checkAuthors(page, former?.page),
    ...checkNsfw(page, former?.page),
    ...checkInvite(page, former?.page),
    ...warnOfInvite(id, page, former?.page),
  ];
}

function createRemovalNotice({ path, page }: PageFile): Finding {
  const message = `this removes ${page ? quoteValue(page.data['name']) : 'a bot'} from the catalogue: its authors or a maintainer have to agree`;
  return { ...createFileFault(path, 'bot-removed', message), severity: 'notice' };
}

/**
 * Tells maintainers of a change of the settings that lets others decide about proposals.
 * @param former undefined where they had a fault
 */
export function checkSettingsChange(
  { settings, text }: SettingsReading,
  former: CatalogueSettings | undefined,
): Finding[] {
  if (settings === undefined) return [];
  const findAt = (key: string, rule: string, message: string): Finding => {
    const position = findPosition(text ?? '', createLocator(text ?? '')([key]));
    return { path: settingsName, ...position, rule, message, severity: 'notice' };
  };
  if (former === undefined) {
    const message = `${settingsName} had a fault before this change: compare maintainers and proposals with its last version without one (git log -p)`;
    return [{ ...findAt('maintainers', 'former-settings', message), severity: 'warning' }];
  }
  const changes = describeListChange(former.maintainers, settings.maintainers);
  const maintainers = `maintainers ${changes}: maintainers may review proposals and accept them into the catalogue. Only a present maintainer may ask for this`;
  const { authors } = former.proposals;
  const publishes = settings.proposals.authors === 'publish' && authors !== 'publish';
  const policy = `proposals.authors changes from ${quoteValue(authors)} to "publish": authors may then change their bots without a review. Only a maintainer may change this`;
  return [
    ...(changes === '' ? [] : [findAt('maintainers', 'maintainers-changed', maintainers)]),
    ...(publishes ? [findAt('proposals', 'proposals-changed', policy)] : []),
  ];
}

/** Finds the faults of a changed path itself, whatever is in the file. */
export function checkPath(change: ChangedPath): Finding[] {
  return change.kind === 'gone' ? [] : pathRules.flatMap((rule) => rule(change));
}

/** Tells maintainers of a changed path outside `bots/`, also of one that is gone. */
export function checkOutside({ path, previousPath, kind }: ChangedFile): Finding[] {
  const paths = kind === 'gone' ? [path] : [path, previousPath ?? path];
  return [...new Set(paths)].filter(isOutsideAndShort).map((path) => {
    const [top, name = ''] = path.split('/');
    const account = top === peopleFolder ? parseProfileName(name) : undefined;
    const ownMessage = `this is what the account ${account} is called: only that account may ask for it`;
    if (account !== undefined)
      return { ...createFileFault(path, 'profile-changed', ownMessage), severity: 'notice' };
    return decidesChecks.test(path)
      ? { ...createFileFault(path, 'checks-changed', checksMessage), severity: 'warning' }
      : { ...createFileFault(path, 'outside-bots', outsideMessage), severity: 'notice' };
  });
}

const checksMessage = 'this decides how changes are checked and reviewed: its owners have to approve it';
const outsideMessage = `this is outside ${botsFolder}/: a maintainer has to look at it`;

/** What Git hosts and build services read as workflows, settings and owners. */
const decidesChecks =
  /^(?:\.(?:github|gitlab|forgejo|gitea|woodpecker|circleci|buildkite|semaphore|tekton|builds)\/|\.(?:gitlab-ci|woodpecker|drone|travis|cirrus|build|appveyor)\.(?:ya?ml|star|jsonnet)$|(?:appveyor|azure-pipelines|bitbucket-pipelines)\.ya?ml$|Jenkinsfile$|(?:docs\/)?CODEOWNERS$|blocked\.json$)/i;

type ChangedPath = Pick<ChangedFile, 'path' | 'previousPath' | 'kind'>;

/**
 * Refuses files that replace folders, and folders that replace files: a clone with a file of its own in that place cannot
 * be updated. Below `bots/` other rules refuse both.
 */
export function checkSwaps(changes: readonly ChangedFile[]): Finding[] {
  const now = changes.map(({ path }) => path);
  const before = changes.flatMap(({ previousPath }) => previousPath ?? []);
  return [
    ...checkFolders(before, now, 'this was a file and becomes a folder'),
    ...checkFolders(now, before, 'this was a folder and becomes a file'),
  ];
}

/** Finds each of `files` that is a folder above one of `others`. */
function checkFolders(files: readonly string[], others: readonly string[], what: string): Finding[] {
  const folders = new Set(others.filter(isOutsideAndShort).flatMap(listParentFolders));
  const message = `${what}: choose another name, or remove the old one first`;
  return files
    .filter((path) => folders.has(path))
    .map((path) => createFileError(path, 'kind-stays', message));
}

function isOutsideAndShort(path: string): boolean {
  return !isBelowBots(path) && isShort(path);
}

/** `a` and `a/b` for `a/b/c`. */
function listParentFolders(path: string): string[] {
  return [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index));
}

const pathRules = [
  ensureIdStays,
  ensureNoSubmodule,
  ensureNoLink,
  ensureFolderStays,
  ensureFileStays,
  ensureNoCaseTwin,
  ensureNotOfTheService,
  ensurePlainName,
  ensureShortName,
];

function ensureCreatedStays(page: Page, former: Page | undefined): Finding[] {
  const before = former?.data['created'];
  if (typeof before !== 'number' || isInFuture(before) || page.data['created'] === before) return [];
  const message = `created was ${before}: put it back, it says when the bot was listed`;
  return [toErrorFinding(page.faultAt(['created'], 'created-stays', message))];
}

/** Refuses a new time of listing or editing in the future: the bot would be the newest one until then. */
function ensureNotInFuture(page: Page, former: Page | undefined): Finding[] {
  return ['created', 'edited'].flatMap((key) => {
    const time = page.data[key];
    if (typeof time !== 'number' || time === former?.data[key] || !isInFuture(time)) return [];
    const message = `${key} is in the future: use the milliseconds since 1970, now ${Date.now()}`;
    return [toErrorFinding(page.faultAt([key], 'future', message))];
  });
}

/** Whether a time is more than a day ahead, which no clock and no time zone explains. */
function isInFuture(time: number): boolean {
  return time > Date.now() + 86_400_000;
}

/** Warns where the page as it was does not say what the rules compare. */
function warnOfUnreadable(page: Page, former: PageFile | undefined): Finding[] {
  const { created, authors } = former?.page?.data ?? {};
  if (former === undefined || (typeof created === 'number' && Array.isArray(authors))) return [];
  const message = `${former.path} could not be read before this change: compare authors and created with its last readable version (git log -p)`;
  return [{ ...page.faultAt(['authors'], 'former-page', message), severity: 'warning' }];
}

function checkMaintainerKey(page: Page, former: Page | undefined, key: 'verified' | 'legacy'): Finding[] {
  const now = page.data[key] ?? false;
  const before = former?.data[key] ?? false;
  if (now === before) return [];
  const message = `${key} changes from ${JSON.stringify(before)} to ${JSON.stringify(now)}: only a maintainer may change this`;
  return [{ ...page.faultAt([key], `${key}-changed`, message), severity: 'notice' }];
}

/** Authors can issue tokens for the bot. */
function checkAuthors(page: Page, former: Page | undefined): Finding[] {
  const { authors: now } = page.data;
  const before = former?.data['authors'];
  if (!Array.isArray(now) || !Array.isArray(before)) return [];
  const changes = describeListChange(before, now);
  if (changes === '') return [];
  const message = `authors ${changes}: authors can manage this bot. Only its present authors may ask for this`;
  return [{ ...page.faultAt(['authors'], 'authors-changed', message), severity: 'notice' }];
}

function checkNsfw(page: Page, former: Page | undefined): Finding[] {
  if (former?.data['nsfw'] !== true || page.data['nsfw'] === true) return [];
  const message =
    'nsfw changes from true to false: everybody will see this bot, so make sure that it is not for adults only';
  return [{ ...page.faultAt(['nsfw'], 'nsfw-changed', message), severity: 'notice' }];
}

/** Tells maintainers of an invite that adds another bot, or newly asks for Administrator. */
function checkInvite(page: Page, former: Page | undefined): Finding[] {
  const { invite: now } = page.data;
  const before = former?.data['invite'];
  if (typeof now !== 'string' || typeof before !== 'string') return [];
  const other = `invite adds another bot than ${quoteValue(before)} did: only the authors of this bot may ask for this`;
  const administrator =
    'invite asks for Administrator, and did not before: ask its authors why the bot needs it';
  const findings = [
    ...(toInviteKey(now) === toInviteKey(before) ? [] : [['invite-changed', other] as const]),
    ...(asksForAdministrator(now) && !asksForAdministrator(before)
      ? [['administrator-added', administrator] as const]
      : []),
  ];
  return findings.map(([rule, message]) => ({
    ...page.faultAt(['invite'], rule, message),
    severity: 'notice',
  }));
}

/** Warns of a new invite that adds no bot, or another one. */
function warnOfInvite(id: BotId, page: Page, former: Page | undefined): Finding[] {
  const { invite, oauth } = page.data;
  const before = String(former?.data['invite']);
  if (typeof invite !== 'string' || invite === before) return [];
  const other = findOtherClient(invite, [id, oauth]);
  const warn = (rule: string, message: string): Finding[] => [
    { ...page.faultAt(['invite'], rule, message), severity: 'warning' },
  ];
  if (isServerInvite(invite))
    return warn(
      'invite-server',
      'invite opens a server and does not add a bot: use the link that adds the bot',
    );
  if (other === undefined || other === findOtherClient(before, [id])) return [];
  const message = `invite adds the bot ${other}, not ${id}: correct the link, or set oauth to ${other} if that is the client of this bot`;
  return warn('invite-other-bot', message);
}

/** Returns `adds "1" and removes "2"`; empty where both lists have the same entries. */
function describeListChange(before: readonly unknown[], now: readonly unknown[]): string {
  const added = now.filter((entry) => !before.includes(entry)).map(quoteValue);
  const removed = before.filter((entry) => !now.includes(entry)).map(quoteValue);
  const changes = [
    added.length > 0 && `adds ${added.join(', ')}`,
    removed.length > 0 && `removes ${removed.join(', ')}`,
  ];
  return changes.filter((change) => change !== false).join(' and ');
}

function ensureIdStays({ path, previousPath }: ChangedPath): Finding[] {
  if (previousPath === null || previousPath === path) return [];
  const before = parsePagePath(previousPath);
  const now = parsePagePath(path);
  if (!before || !now || before.id === now.id) return [];
  const message = `this was ${previousPath}: put it back, a bot keeps its id; another bot gets a file of its own`;
  return [createFileError(path, 'id-stays', message)];
}

/** A submodule that was not checked out is an empty folder: only Git can tell. */
function ensureNoSubmodule({ path, kind }: ChangedPath): Finding[] {
  if (kind !== 'submodule' && path !== '.gitmodules') return [];
  return [createFileError(path, 'submodule', submoduleMessage)];
}

function ensureNoLink({ path, kind }: ChangedPath): Finding[] {
  if (kind !== 'symlink' || path === botsFolder) return [];
  const message = 'this is a symbolic link: put the file itself here, a link may lead anywhere';
  return [createFileError(path, 'regular-file', message)];
}

function ensureFolderStays({ path }: ChangedPath): Finding[] {
  if (path !== botsFolder) return [];
  const message = `${botsFolder} is not a folder any more: make it one again, with the pages in it`;
  return [createFileError(path, 'regular-file', message)];
}

function ensureFileStays({ path }: ChangedPath): Finding[] {
  const name = [settingsName, blockedName].find((one) => path.startsWith(`${one}/`));
  if (name === undefined) return [];
  const message = `${name} is a file of the catalogue: remove the folder of that name`;
  return [createFileError(path, 'regular-file', message)];
}

/** Where case makes no difference, both are one folder, and a clone has the files of only one. */
function ensureNoCaseTwin({ path }: ChangedPath): Finding[] {
  const [top = ''] = path.split('/');
  const name = reservedNames.find((reserved) => reserved.toUpperCase() === top.toUpperCase());
  if (name === undefined || name === top) return [];
  const message = `${quoteValue(top)} differs from ${name} only in case, and some systems cannot have both: choose another name`;
  return [createFileError(path, 'file-name', message)];
}

const reservedNames = [botsFolder, settingsName, blockedName, ...sideFolders, 'var'];

function ensureNotOfTheService({ path }: ChangedPath): Finding[] {
  if (path !== 'var' && !path.startsWith('var/')) return [];
  const message = 'var/ is where a running service keeps its own files: remove this from the change';
  return [createFileError(path, 'service-folder', message)];
}

/** The rule for the names of pages is far stricter. */
function ensurePlainName({ path }: ChangedPath): Finding[] {
  const leaks = holdsToken(path)
    ? [createFileError(botsFolder, tokenRule, 'the name of a file looks like a bot token: rename it')]
    : [];
  const message = isBelowBots(path) ? undefined : findNameProblem(path);
  if (message === undefined) return leaks;
  return [...leaks, createFileError(path, 'file-name', message)];
}

function findNameProblem(path: string): string | undefined {
  if (/[\p{Cc}\p{Bidi_Control}\uFFFD\u2028\u2029]/u.test(path))
    return 'the name has characters that cannot be seen: rename the file, with letters and digits';
  return notOnWindows.test(path)
    ? 'Windows has no file of this name, and a clone there fails: rename it, with letters and digits'
    : undefined;
}

/** Names of devices, characters that names cannot have, and blanks and dots at the end of a name. */
const notOnWindows = /(?:^|\/)(?:con|prn|aux|nul|com\d|lpt\d)(?=[./]|$)|[<>:"|?*\\]|[ .](?=\/|$)/i;

function ensureShortName({ path }: ChangedPath): Finding[] {
  if (isShort(path)) return [];
  const shown = `${path.slice(0, 60)}…`;
  const message = `the path is too long for some disks: keep each name to ${maxNameBytes} bytes, and all of it to ${maxPathBytes}`;
  return [createFileError(shown, 'file-name', message)];
}

function isShort(path: string): boolean {
  return (
    Buffer.byteLength(path) <= maxPathBytes &&
    path.split('/').every((name) => Buffer.byteLength(name) <= maxNameBytes)
  );
}

/** The limit of the usual file systems. */
const maxNameBytes = 255;

/** Systems take 4,095, with the folder of the clone. */
const maxPathBytes = 1024;

function isBelowBots(path: string): boolean {
  return path === botsFolder || path.startsWith(`${botsFolder}/`);
}
