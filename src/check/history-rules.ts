import { readChangeHistory, type FileVersion, OutputLimitError } from '../git/changed-files.ts';
import { maxObjectBytes, readHeaders, readObjects, streamObjects } from '../git/objects/objects.ts';
import type { RevisionRange } from '../git/revision-range.ts';
import { findingsOfAttributes } from './attribute-rules.ts';
import { checkPath } from './change-rules.ts';
import { createFileError, toErrorFinding, type Finding } from './check.ts';
import { findServiceTrailer } from '../bot/commit-message.ts';
import { createFileFault } from '../catalogue/page/fault.ts';
import { botsFolder } from '../catalogue/page/layout.ts';
import { type TextPlace, tokenRule, TokenSearch } from './token-search.ts';

/**
 * Finds what the commits of a change would put into the history for good, also where a later commit removes it: tokens in
 * files and in messages, files that are far too large, and what has no place in any commit, such as links. Each object is
 * read in pieces.
 * @param isWanted whether a path is checked
 */
export async function checkHistory(
  root: string,
  range: RevisionRange,
  isWanted: (path: string) => boolean,
): Promise<Finding[]> {
  let history;
  try {
    history = await readChangeHistory(root, range, maxHistory);
  } catch (error) {
    if (!(error instanceof OutputLimitError)) throw error;
    return [createFileError(botsFolder, 'change-size', longHistoryMessage)];
  }
  const versions = history.versions.filter(({ path }) => isWanted(path));
  const blobs = [...new Set(versions.filter(({ kind }) => kind !== 'submodule').map(({ blob }) => blob))];
  const sizes = new Map([...(await readHeaders(root, blobs))].map(([id, { size }]) => [id, size]));
  // Pages have a far smaller limit of their own.
  const large = versions.filter(({ blob }) => (sizes.get(blob) ?? 0) > maxObjectBytes);
  const read = blobs.filter((id) => (sizes.get(id) ?? 0) <= maxObjectBytes);
  if (read.reduce((sum, id) => sum + (sizes.get(id) ?? 0), 0) > maxChange) {
    return [createFileError(botsFolder, 'change-size', largeHistoryMessage)];
  }
  const leaks = await findLeaks(root, [...history.commits, ...read]);
  return [
    ...large.map(({ path, commit }) => createFileError(path, 'file-size', describeLargeFile(commit))),
    ...versions.flatMap((version) => listLeakFindings(version, leaks.get(version.blob))),
    ...history.commits.filter((id) => leaks.has(id)).map(createMessageLeak),
    ...(await checkCommits(root, history.commits)),
    ...versions.flatMap((version) =>
      checkPath({ ...version, previousPath: null }).map((finding) => nameCommit(version, finding)),
    ),
    ...(await findingsOfAttributes(root, versions, nameCommit)),
  ];
}

/** Bytes of the list of commits and file versions; each takes about 100. */
const maxHistory = 8 * 1024 * 1024;

/** Bytes of all file versions together. */
const maxChange = 512 * 1024 * 1024;

const longHistoryMessage =
  'this change has too many commits or file versions to look through: squash them, or split it into several pull requests';

const largeHistoryMessage =
  'the files of this change are more than 512 MiB together: leave the large ones out, every clone would contain them for good';

function describeLargeFile(commit: string): string {
  return `${shortenId(commit)} adds a file of more than ${maxObjectBytes / 1024 / 1024} MiB here: remove it from that commit too, every clone would contain it for good`;
}

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

function nameCommit({ commit }: FileVersion, finding: Finding): Finding {
  return {
    ...finding,
    message: `${finding.message} (${shortenId(commit)} adds it: remove it from that commit too)`,
  };
}

function listLeakFindings({ path, commit }: FileVersion, place: TextPlace | undefined): Finding[] {
  if (place === undefined) return [];
  const message = `${shortenId(commit)} puts here what looks like a bot token: make a new one (botshelf token, or the Manage link on its page), as others may have read it, and remove it from that commit too`;
  return [toErrorFinding({ path, ...place, rule: tokenRule, message })];
}

function createMessageLeak(commit: string): Finding {
  const message = `the message of ${shortenId(commit)} holds what looks like a bot token: make a new one (botshelf token, or the Manage link on its page), as others may have read it, and reword that commit`;
  return createFileError(botsFolder, tokenRule, message);
}

/** Refuses commits that are too long to be read, and tells maintainers of one that names what only a service writes. */
async function checkCommits(root: string, commits: readonly string[]): Promise<Finding[]> {
  const contents = await readObjects(root, commits, maxCommitBytes);
  return commits.flatMap((id): Finding[] => {
    const content = contents.get(id)?.toString();
    const [headers = ''] = content?.split('\n\n', 1) ?? [];
    if (content === undefined || headers.split('\n').some((line) => line.length > maxHeaderLength))
      return [createFileError(botsFolder, 'commit-size', `${shortenId(id)} ${longCommitMessage}`)];
    const trailer = findServiceTrailer(content);
    if (trailer === undefined) return [];
    const message = `the message of ${shortenId(id)} has "${trailer}" as a service writes it: reword it, unless a service has pushed this`;
    return [{ ...createFileFault(botsFolder, 'service-trailer', message), severity: 'notice' }];
  });
}

/** Bytes of a commit, and characters of its author and other header lines. */
const maxCommitBytes = 16 * 1024;
const maxHeaderLength = 1000;

const longCommitMessage =
  'has more than 16 KiB, or a header line of more than 1,000 characters, such as its author: commit again with a shorter name and message';

function shortenId(commit: string): string {
  return `commit ${commit.slice(0, 10)}`;
}
