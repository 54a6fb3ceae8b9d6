import { formatIsoTime, msPerDay, parseCommitTime } from '../bot/clock.ts';
import { isError } from '../lib/errors.ts';
import { findServiceTrailer } from '../bot/commit-message.ts';
import { type TextPlace, tokenRule, TokenSearch } from '../bot/token.ts';
import { createFileFault } from '../catalogue/page/fault.ts';
import { botsFolder } from '../catalogue/page/layout.ts';
import { type ChangedFile, readChangeHistory, type RevisionRange } from './changed-files.ts';
import { maxObjectBytes, readHeaders, readObjects, streamObjects } from '../git/objects.ts';
import { quoteValue } from '../lib/text.ts';
import { checkPath } from './change-rules.ts';
import { createFileError, toErrorFinding, type Finding } from './check.ts';

/** The path of a file that Git reads as attributes. */
const ofAttributes = /(?:^|\/)\.gitattributes$/i;

/** Bytes of a file of attributes. */
const maxAttributesSize = 64 * 1024;

/**
 * Refuses a `.gitattributes` that makes Git run a program or rewrite files.
 * @param bytes undefined for a file that is too large
 */
export function checkAttributes(path: string, bytes: Buffer | undefined): Finding[] {
  const message = `${path} has more than ${maxAttributesSize} bytes: shorten it`;
  if (bytes === undefined) return [createFileError(path, 'git-attributes', message)];
  for (const [index, line] of bytes.toString().split('\n').entries()) {
    const [, before = '', attribute] = driver.exec(line) ?? [];
    if (attribute === undefined) continue;
    const message = `${quoteValue(attribute)} makes Git run a program or rewrite files: remove it; text, eol and binary are fine`;
    const place = { line: index + 1, column: before.length + 1 };
    return [toErrorFinding({ path, ...place, rule: 'git-attributes', message })];
  }
  return [];
}

/**
 * Matches after the pattern of a line that is not a comment; Git ends a line at a NUL. Only these three are blanks, and
 * a quoted pattern needs no blank after it. The name of a driver refers to the Git configuration of each clone, as with
 * git-lfs.
 */
const driver =
  /^([ \t\r]*[^ \t\r#\0][^\0]*?[ \t\r"])((?:filter|diff|merge)=[^ \t\r\0]+|working-tree-encoding(?:=[^ \t\r\0]+)?|ident)(?=[ \t\r\0]|$)/;

/**
 * Finds what no commit may contain, such as links, tokens and files that are far too large: first in the result of the
 * change, then in versions that its commits add to the history for good, even if a later commit removes them. Checks
 * the messages of the commits, too. Each object is read in pieces.
 * @param changes the changed files of the result
 * @param isWanted whether a path is checked
 */
export async function checkVersions(
  root: string,
  range: RevisionRange,
  changes: readonly ChangedFile[],
  isWanted: (path: string) => boolean,
): Promise<Finding[]> {
  const history = await readChangeHistory(root, range).catch((error: unknown) => {
    if (!isError(error, 'list-too-long')) throw error;
  });
  const { commits = [], versions: all = [] } = history ?? {};
  const committed = all.filter(({ path }) => isWanted(path));
  const ofCommits = new Set(committed.map(({ blob }) => blob));
  const ofResult = changes.map((file) => ({ ...file, commit: null }));
  const versions: CheckedVersion[] = [...ofResult, ...committed].filter(({ kind }) => kind !== 'gone');
  const paths = versions.flatMap((version) => nameCommit(version, checkPath(version)));
  if (history === undefined)
    return [...paths, createFileError(botsFolder, 'change-size', longHistoryMessage)];
  const blobs = listBlobs(versions.filter(({ kind }) => kind !== 'submodule'));
  const sizes = new Map([...(await readHeaders(root, blobs))].map(([id, { size }]) => [id, size]));
  const read = blobs.filter((id) => (sizes.get(id) ?? 0) <= maxObjectBytes);
  if (read.reduce((sum, id) => sum + (sizes.get(id) ?? 0), 0) > maxChange)
    return [...paths, createFileError(botsFolder, 'change-size', largeHistoryMessage)];
  const leaks = await findLeaks(root, [...commits, ...read]);
  const attributes = versions.filter(({ path, kind }) => kind === 'file' && ofAttributes.test(path));
  const contents = await readObjects(root, listBlobs(attributes), maxAttributesSize);
  return [
    ...paths,
    ...attributes.flatMap((version) =>
      nameCommit(version, checkAttributes(version.path, contents.get(version.blob ?? ''))),
    ),
    ...versions.flatMap((version) => {
      const { path, blob, commit } = version;
      // The commit that adds it is named.
      if (blob === null || (commit === null && ofCommits.has(blob))) return [];
      // Pages have a far smaller limit of their own.
      const isLarge = (sizes.get(blob) ?? 0) > maxObjectBytes;
      const place = leaks.get(blob);
      return nameCommit(version, [
        ...(isLarge ? [createFileError(path, 'file-size', largeFileMessage)] : []),
        ...(place ? [toErrorFinding({ path, ...place, rule: tokenRule, message: leakMessage })] : []),
      ]);
    }),
    ...commits.filter((id) => leaks.has(id)).map(createMessageLeak),
    ...(await checkCommits(root, commits)),
  ];
}

/** A file as the change leaves it, or as one of its commits does. */
interface CheckedVersion extends ChangedFile {
  /** Null for the result. */
  readonly commit: string | null;
}

function listBlobs(versions: readonly CheckedVersion[]): string[] {
  return [...new Set(versions.flatMap(({ blob }) => blob ?? []))];
}

function nameCommit({ commit }: CheckedVersion, findings: readonly Finding[]): Finding[] {
  if (commit === null) return [...findings];
  const where = ` (${shortenId(commit)} adds it: remove it from that commit too)`;
  return findings.map((finding) => ({ ...finding, message: finding.message + where }));
}

/** Bytes of all file versions together. */
const maxChange = 512 * 1024 * 1024;

const longHistoryMessage =
  'this change has too many commits or file versions to look through: squash them, or split it into several pull requests';

const largeHistoryMessage =
  'the files of this change are more than 512 MiB together: leave the large ones out, every clone would contain them for good';

const largeFileMessage = `the file has more than ${maxObjectBytes / 1024 / 1024} MiB: leave it out, every clone would contain it for good`;

const leakMessage =
  'this looks like a bot token: remove it and make a new one (botshelf token, or the Manage link on its page), as others may have read it';

/** Returns, by object id, the place of what looks like a token. */
async function findLeaks(root: string, ids: readonly string[]): Promise<Map<string, TextPlace>> {
  const leaks = new Map<string, TextPlace>();
  await streamObjects(root, ids, (id) => {
    const search = new TokenSearch();
    return {
      push: (piece) => search.push(piece),
      end: () => {
        const place = search.end();
        if (place) leaks.set(id, place);
      },
    };
  });
  return leaks;
}

function createMessageLeak(commit: string): Finding {
  const message = `the message of ${shortenId(commit)} holds what looks like a bot token: make a new one (botshelf token, or the Manage link on its page), as others may have read it, and reword that commit`;
  return createFileError(botsFolder, tokenRule, message);
}

/** Refuses commits that are too long to read or from the future, and warns of a trailer that only a service writes. */
async function checkCommits(root: string, commits: readonly string[]): Promise<Finding[]> {
  const contents = await readObjects(root, commits, maxCommitBytes);
  const late: string[] = [];
  const findings = commits.flatMap((id): Finding[] => {
    const content = contents.get(id)?.toString();
    const [headers = ''] = content?.split('\n\n', 1) ?? [];
    if (content === undefined || headers.split('\n').some((line) => line.length > maxHeaderLength))
      return [createFileError(botsFolder, 'commit-size', `${shortenId(id)} ${longCommitMessage}`)];
    // In the order of the changes they would be the last ones.
    const times = headers.matchAll(/^(?:author|committer) .* (\d+) [+-]\d+$/gm);
    const time = Math.max(...Array.from(times, ([, seconds = '']) => parseCommitTime(seconds)));
    if (time > Date.now() + msPerDay)
      late.push(`${shortenId(id)} is dated ${formatIsoTime(time).slice(0, 10)}`);
    const trailer = findServiceTrailer(content);
    if (trailer === undefined) return [];
    const message = `the message of ${shortenId(id)} has "${trailer}" as a service writes it: reword it, unless a service has pushed this`;
    return [{ ...createFileFault(botsFolder, 'service-trailer', message), severity: 'notice' }];
  });
  if (late.length === 0) return findings;
  const message = `${late.slice(0, namedCommits).join(', ')}: set the clock, and date it again (git rebase --reset-author-date)`;
  return [...findings, createFileError(botsFolder, 'future', message)];
}

/** Commits that a finding names. */
const namedCommits = 10;

/** Bytes of a commit, and characters of its author and other header lines. */
const maxCommitBytes = 16 * 1024;
const maxHeaderLength = 1000;

const longCommitMessage =
  'has more than 16 KiB, or a header line of more than 1,000 characters, such as its author: commit again with a shorter name and message';

function shortenId(commit: string): string {
  return `commit ${commit.slice(0, 10)}`;
}
