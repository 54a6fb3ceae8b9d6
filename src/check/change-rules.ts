import { isExpiring } from '../bot/address.ts';
import { msPerDay } from '../bot/clock.ts';
import type { BotId } from '../bot/id.ts';
import { findOtherClient, isServerInvite, asksForAdministrator } from '../bot/invite.ts';
import { toInviteKey } from '../bot/likeness.ts';
import { holdsToken, tokenRule } from '../bot/token.ts';
import { validate, formatPlace } from '../bot/validate.ts';
import { compareFaults, createFileFault, findPosition } from '../catalogue/page/fault.ts';
import { botsFolder, isPage, parsePagePath } from '../catalogue/page/layout.ts';
import type { PageFile } from '../catalogue/page/page-file.ts';
import { findImages, type Page } from '../catalogue/page/page.ts';
import { isMainPage, isReadable, type ReadablePage } from '../catalogue/page/rules.ts';
import { parseProfileName, peopleFolder } from '../catalogue/page/side-file.ts';
import { blockedName } from '../catalogue/settings/blocked.ts';
import { type SettingsReading, settingsName } from '../catalogue/settings/settings.ts';
import type { ChangedFile } from './changed-files.ts';
import { createLocator } from '../lib/json.ts';
import { quoteValue } from '../lib/text.ts';
import { createFileError, type Finding, submoduleMessage, toErrorFinding, sideFolders } from './check.ts';

/**
 * Finds the parts of a change to a bot that are not allowed, and those that a maintainer has to review.
 * @param before all page files of the bot; empty for a new bot
 * @param after all page files of the bot after the change; empty for a removed bot
 */
export function checkBotChange(before: readonly PageFile[], after: readonly PageFile[]): Finding[] {
  const former = findMainPage(before);
  if (former && after.length === 0) return [createRemovalNotice(former)];
  const main = findChangedMainPage(before, after);
  return main ? checkMainPage(main, former) : [];
}

/** Returns the main page. Without another, a page that cannot be parsed counts as the main page. */
export function findMainPage(files: readonly PageFile[]): PageFile | undefined {
  const pages = files.filter(isPage);
  return pages.filter(isReadable).find(isMainPage) ?? pages.find((file) => !isReadable(file));
}

/** Returns the main page after a change, if its bytes changed and it can be parsed. */
export function findChangedMainPage(
  before: readonly PageFile[],
  after: readonly PageFile[],
): ReadablePage | undefined {
  const main = findMainPage(after);
  return main && isReadable(main) && main.sha !== findMainPage(before)?.sha ? main : undefined;
}

function checkMainPage({ id, page }: ReadablePage, former: PageFile | undefined): Finding[] {
  const before = former?.page?.data ?? {};
  const addresses = validate('main-page', page.data, null, before)
    .filter(({ keyword }) => keyword === 'address')
    .map(({ place, message }) => page.faultAt(place, 'address', formatPlace(place) + message));
  const changes = keyRules.flatMap(({ key, rule, severity, find }) => {
    const message = find(page.data[key], before[key], { id, former, page });
    return message === undefined ? [] : [{ ...page.faultAt([key], rule, message), severity }];
  });
  return [...addresses.map(toErrorFinding), ...changes];
}

/** A refused value of a key of a main page, or a warning about it. */
interface KeyRule {
  readonly key: string;
  readonly rule: string;
  readonly severity: Finding['severity'];
  /** Returns the problem of a value and the fix, or undefined. */
  readonly find: (now: unknown, before: unknown, change: MainPageChange) => string | undefined;
}

interface MainPageChange {
  readonly id: BotId;
  readonly page: Page;
  /** Undefined for a new bot. */
  readonly former: PageFile | undefined;
}

const keyRules: readonly KeyRule[] = [
  { key: 'authors', rule: 'former-page', severity: 'warning', find: findUnreadable },
  {
    key: 'id',
    rule: 'id-zeros',
    severity: 'notice',
    find: (_now, _before, { id, former }) =>
      former === undefined && /^0\d/.test(id)
        ? `${id} is another bot than ${id.replace(/^0+(?=\d)/, '')}: leave the zeros out, unless the bot has them`
        : undefined,
  },
  { key: 'created', rule: 'created-stays', severity: 'error', find: findOtherCreated },
  // Until then, the bot would stay the newest one.
  ...['created', 'edited'].map((key): KeyRule => {
    const message = (): string =>
      `${key} is in the future: use the milliseconds since 1970, now ${Date.now()}`;
    const find: KeyRule['find'] = (now, before) =>
      now !== before && isInFuture(now) ? message() : undefined;
    return { key, rule: 'future', severity: 'error', find };
  }),
  ...['verified', 'legacy'].map((key): KeyRule => {
    const find: KeyRule['find'] = (now = false, before = false) =>
      now === before
        ? undefined
        : `${key} changes from ${JSON.stringify(before)} to ${JSON.stringify(now)}: only a maintainer may change this`;
    return { key, rule: `${key}-changed`, severity: 'notice', find };
  }),
  { key: 'authors', rule: 'authors-changed', severity: 'notice', find: findOtherAuthors },
  {
    key: 'nsfw',
    rule: 'nsfw-changed',
    severity: 'notice',
    find: (now, before) =>
      before === true && now !== true
        ? 'nsfw changes from true to false: everybody will see this bot, so make sure that it is not for adults only'
        : undefined,
  },
  { key: 'invite', rule: 'invite-changed', severity: 'notice', find: findOtherInvite },
  { key: 'invite', rule: 'administrator-added', severity: 'notice', find: findAdministrator },
  { key: 'invite', rule: 'invite-server', severity: 'warning', find: findServerInvite },
  { key: 'invite', rule: 'invite-other-bot', severity: 'warning', find: findOtherBot },
  { key: 'images', rule: 'image-expires', severity: 'warning', find: findExpiringImage },
];

function createRemovalNotice({ path, page }: PageFile): Finding {
  const message = `this removes ${page ? quoteValue(page.data['name']) : 'a bot'} from the catalogue: its authors or a maintainer have to agree`;
  return { ...createFileFault(path, 'bot-removed', message), severity: 'notice' };
}

/**
 * Warns of a change of the settings that allows others to decide about proposals.
 * @param former undefined if they had a fault
 */
export function checkSettingsChange(
  { settings, text }: SettingsReading,
  former: SettingsReading['settings'],
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
  const policies = Object.entries(publishers).flatMap(([key, then]) => {
    const [was, now] = [former, settings].map(({ proposals }) => proposals[key as keyof typeof publishers]);
    const message = `proposals.${key} changes from ${quoteValue(was)} to "publish": ${then}. Only a maintainer may change this`;
    return now === 'publish' && was !== now ? [findAt('proposals', 'proposals-changed', message)] : [];
  });
  const added = changes === '' ? [] : [findAt('maintainers', 'maintainers-changed', maintainers)];
  return [...added, ...policies];
}

/** The settings that may skip the review of proposals, each with the effect. */
const publishers = {
  authors: 'authors may then change their bots without a review',
  token: 'the token of a bot may then change its pages without a review',
} as const;

/** Finds the faults of a changed path, without the file's content. */
export function checkPath(change: ChangedPath): Finding[] {
  const { path } = change;
  if (change.kind === 'gone') return [];
  const leaks = holdsToken(path)
    ? [createFileError(botsFolder, tokenRule, 'the name of a file looks like a bot token: rename it')]
    : [];
  if (!isShort(path))
    return [...leaks, createFileError(`${path.slice(0, 60)}…`, 'file-name', longPathMessage)];
  return pathRules.reduce((findings, [rule, find]) => {
    const message = find(change);
    return message === undefined ? findings : [...findings, createFileError(path, rule, message)];
  }, leaks);
}

/**
 * Returns a finding for each kind of changed paths outside `bots/`, removed ones too, for maintainers. One for all
 * files of a kind, because a Git host shows only ten.
 * @param faulty the paths that are refused
 */
export function checkOutside(changes: readonly ChangedFile[], faulty: ReadonlySet<string>): Finding[] {
  const paths = changes.flatMap(({ path, previousPath, kind }) =>
    kind === 'gone' ? [path] : [path, previousPath ?? path],
  );
  const outside = [...new Set(paths)].filter((path) => isOutsideAndShort(path) && !faulty.has(path));
  const profiles = outside.flatMap((path): Finding[] => {
    const account = findProfileAccount(path);
    if (account === undefined) return [];
    const message = `this is what the account ${account} is called: only that account may ask for it`;
    return [{ ...createFileFault(path, 'profile-changed', message), severity: 'notice' }];
  });
  const others = outside.filter((path) => findProfileAccount(path) === undefined);
  const deciding = others.filter((path) => decidesChecks.test(path));
  const rest = others.filter((path) => !decidesChecks.test(path));
  return [
    ...profiles,
    ...createFindingOfAll(deciding, 'checks-changed', 'warning', formatChecksMessage),
    ...createFindingOfAll(rest, 'outside-bots', 'notice', formatOutsideMessage),
  ];
}

function findProfileAccount(path: string): string | undefined {
  const [top, name = ''] = path.split('/');
  return top === peopleFolder ? parseProfileName(name) : undefined;
}

/** Returns a finding about the first path, which names the next ones and counts the rest; empty without paths. */
function createFindingOfAll(
  paths: readonly string[],
  rule: string,
  severity: Finding['severity'],
  formatMessage: (subject: string, isOne: boolean) => string,
): Finding[] {
  const [first, ...others] = paths.toSorted();
  if (first === undefined) return [];
  const left = others.length - maxNamedPaths;
  const named = [
    'this',
    ...others.slice(0, maxNamedPaths).map(quoteValue),
    ...(left > 0 ? [`${left} more`] : []),
  ];
  const subject = named.join(', ').replace(/, (?=[^,]*$)/, ' and ');
  return [{ ...createFileFault(first, rule, formatMessage(subject, others.length === 0)), severity }];
}

const maxNamedPaths = 5;

/** The rules about rights, and about what bots may do on servers: their findings come first. */
const rulesOfRights = [
  'authors-changed',
  'verified-changed',
  'legacy-changed',
  'former-page',
  'maintainers-changed',
  'proposals-changed',
  'former-settings',
  'checks-changed',
  'invite-changed',
  'administrator-added',
  'profile-changed',
  'bot-removed',
];

/**
 * Sorts findings: those about rights first, one of each rule in turn (a Git host shows only ten of a kind, and anybody can
 * add ten of a rule), then the others by path, line and column.
 */
export function sortFindings(findings: readonly Finding[]): Finding[] {
  const turns = new Map(rulesOfRights.map((rule) => [rule, 0]));
  const ranked = findings.toSorted(compareFaults).map((finding) => {
    const turn = turns.get(finding.rule) ?? Infinity;
    turns.set(finding.rule, turn + 1);
    return { finding, turn, place: rulesOfRights.indexOf(finding.rule) };
  });
  ranked.sort((a, b) => (a.turn === b.turn ? a.place - b.place : a.turn - b.turn));
  return ranked.map(({ finding }) => finding);
}

const formatChecksMessage = (subject: string, isOne: boolean): string =>
  `${subject} ${isOne ? 'decides' : 'decide'} how changes are checked and reviewed: ${isOne ? 'its owners have to approve it' : 'their owners have to approve them'}`;
const formatOutsideMessage = (subject: string, isOne: boolean): string =>
  `${subject} ${isOne ? 'is' : 'are'} outside ${botsFolder}/: a maintainer has to look at ${isOne ? 'it' : 'them'}`;

/** Paths that Git hosts and build services read as workflows, settings and owners. */
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

/** The rules about paths by name; each returns the problem of a path and the fix. */
const pathRules: readonly (readonly [rule: string, find: (change: ChangedPath) => string | undefined])[] = [
  ['id-stays', findFormerId],
  // A submodule that was not checked out is an empty folder, so only Git knows it.
  [
    'submodule',
    ({ path, kind }) => (kind === 'submodule' || path === '.gitmodules' ? submoduleMessage : undefined),
  ],
  [
    'regular-file',
    ({ path, kind }) =>
      path === botsFolder
        ? `${botsFolder} is not a folder any more: make it one again, with the pages in it`
        : kind === 'symlink'
          ? 'this is a symbolic link: put the file itself here, a link may lead anywhere'
          : undefined,
  ],
  [
    'regular-file',
    ({ path }) => {
      const name = [settingsName, blockedName].find((one) => path.startsWith(`${one}/`));
      return name && `${name} is a file of the catalogue: remove the folder of that name`;
    },
  ],
  ['file-name', findCaseTwin],
  [
    'service-folder',
    ({ path }) =>
      path === 'var' || path.startsWith('var/')
        ? 'var/ is where a running service keeps its own files: remove this from the change'
        : undefined,
  ],
  // The rule for the names of pages is far stricter.
  ['file-name', ({ path }) => (isBelowBots(path) ? undefined : findNameProblem(path))],
];

/** Whether a time is more than a day ahead: no time zone explains that. */
function isInFuture(time: unknown): boolean {
  return typeof time === 'number' && time > Date.now() + msPerDay;
}

/** The old page does not have the values that the rules compare. */
function findUnreadable(_now: unknown, authors: unknown, { former }: MainPageChange): string | undefined {
  const isReadable = typeof former?.page?.data['created'] === 'number' && Array.isArray(authors);
  return former === undefined || isReadable
    ? undefined
    : `${former.path} could not be read before this change: compare authors and created with its last readable version (git log -p)`;
}

function findOtherCreated(now: unknown, before: unknown): string | undefined {
  if (typeof before !== 'number' || isInFuture(before) || now === before) return undefined;
  return `created was ${before}: put it back, it says when the bot was listed`;
}

/** Authors can issue tokens for the bot. */
function findOtherAuthors(now: unknown, before: unknown): string | undefined {
  const changes = Array.isArray(now) && Array.isArray(before) ? describeListChange(before, now) : '';
  if (changes === '') return undefined;
  return `authors ${changes}: authors can manage this bot. Only its present authors may ask for this`;
}

function findOtherInvite(now: unknown, before: unknown): string | undefined {
  if (typeof now !== 'string' || typeof before !== 'string' || toInviteKey(now) === toInviteKey(before))
    return undefined;
  return `invite adds another bot than ${quoteValue(before)} did: only the authors of this bot may ask for this`;
}

function findAdministrator(now: unknown, before: unknown): string | undefined {
  if (typeof now !== 'string' || typeof before !== 'string') return undefined;
  if (!asksForAdministrator(now) || asksForAdministrator(before)) return undefined;
  return 'invite asks for Administrator, and did not before: ask its authors why the bot needs it';
}

function findServerInvite(now: unknown, before: unknown): string | undefined {
  if (typeof now !== 'string' || now === before || !isServerInvite(now)) return undefined;
  return 'invite opens a server and does not add a bot: use the link that adds the bot';
}

function findOtherBot(now: unknown, before: unknown, { id, page }: MainPageChange): string | undefined {
  if (typeof now !== 'string' || now === before || isServerInvite(now)) return undefined;
  const other = findOtherClient(now, [id, page.data['oauth']]);
  if (other === undefined || other === findOtherClient(String(before), [id])) return undefined;
  return `invite adds the bot ${other}, not ${id}: correct the link, or set oauth to ${other} if that is the client of this bot`;
}

/** Looks at the images of the page, too. */
function findExpiringImage(_now: unknown, _before: unknown, change: MainPageChange): string | undefined {
  const [images = [], known = []] = [change.page, change.former?.page].map((page) =>
    page ? [...Object.values(page.data['images'] ?? {}).flat(), ...findImages(page.page)] : [],
  );
  const address = images.find((image) => isExpiring(String(image)) && !known.includes(image));
  return address === undefined
    ? undefined
    : `the image ${quoteValue(address)} has an address that stops working after some time: use one that stays`;
}

/** Returns `adds "1" and removes "2"`; empty if both lists have the same entries. */
function describeListChange(before: readonly unknown[], now: readonly unknown[]): string {
  const added = now.filter((entry) => !before.includes(entry)).map(quoteValue);
  const removed = before.filter((entry) => !now.includes(entry)).map(quoteValue);
  const changes = [
    added.length > 0 && `adds ${added.join(', ')}`,
    removed.length > 0 && `removes ${removed.join(', ')}`,
  ];
  return changes.filter((change) => change !== false).join(' and ');
}

function findFormerId({ path, previousPath }: ChangedPath): string | undefined {
  const before = parsePagePath(previousPath ?? path);
  const now = parsePagePath(path);
  if (!before || !now || before.id === now.id) return undefined;
  return `this was ${previousPath}: put it back, a bot keeps its id; another bot gets a file of its own`;
}

/** On a file system that ignores case, both are one folder, and a clone has the files of only one. */
function findCaseTwin({ path }: ChangedPath): string | undefined {
  const [top = ''] = path.split('/');
  const name = reservedNames.find((reserved) => reserved.toUpperCase() === top.toUpperCase());
  if (name === undefined || name === top) return undefined;
  return `${quoteValue(top)} differs from ${name} only in case, and some systems cannot have both: choose another name`;
}

const reservedNames = [botsFolder, settingsName, blockedName, ...sideFolders, 'var'];

function findNameProblem(path: string): string | undefined {
  if (/[\p{Cc}\p{Bidi_Control}\uFFFD\u2028\u2029]/u.test(path))
    return 'the name has characters that cannot be seen: rename the file, with letters and digits';
  return notOnWindows.test(path)
    ? 'Windows has no file of this name, and a clone there fails: rename it, with letters and digits'
    : undefined;
}

/** Names of devices, characters that names cannot have, and blanks and dots at the end of a name. */
const notOnWindows = /(?:^|\/)(?:con|prn|aux|nul|com\d|lpt\d)(?=[./]|$)|[<>:"|?*\\]|[ .](?=\/|$)/i;

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

const longPathMessage = `the path is too long for some disks: keep each name to ${maxNameBytes} bytes, and all of it to ${maxPathBytes}`;

function isBelowBots(path: string): boolean {
  return path === botsFolder || path.startsWith(`${botsFolder}/`);
}
