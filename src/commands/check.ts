import { readConfig } from '../app/config.ts';
import { ensureValid } from '../catalogue/page/side-file.ts';
import { readBlocked } from '../catalogue/settings/blocked.ts';
import { checkChanges } from '../check/check-changes.ts';
import { checkInThreads } from '../check/parallel-check.ts';
import { fetchCommit } from '../git/hosts.ts';
import { UserError } from '../lib/errors.ts';
import { toScope } from './catalogue-scope.ts';
import { printReport, type ReportFormat } from './check-report.ts';
import { showFiles } from './progress.ts';

export interface CheckFlags {
  readonly base?: string;
  readonly head?: string;
  /** The remote that `head` is fetched from. */
  readonly fetch?: string;
  readonly format: ReportFormat;
}

/** Checks the catalogue and prints the report; the exit code is 1 when it has errors. @throws {UserError} */
export async function check(paths: string[], { base, head, fetch, format }: CheckFlags): Promise<void> {
  const { catalogue: root, blocked: blockedFile } = readConfig();
  if (head !== undefined && base === undefined) {
    throw new UserError('--head needs --base: name the revision to compare it with');
  }
  if (fetch !== undefined && head === undefined) {
    throw new UserError('--fetch needs --head: name the commit to fetch');
  }
  // A clone without a work tree has a catalogue too, in its commits.
  const scope = head !== undefined && paths.length === 0 ? 'everything' : toScope(root, paths);
  if (head !== undefined && fetch !== undefined) await fetchCommit(root, fetch, head);
  // What it says is for maintainers, and a check of a pull request is public.
  const privateBlocked = blockedFile === null ? undefined : ensureValid(readBlocked(root, blockedFile));
  const report = await showFiles('checked', async (onProgress) =>
    base === undefined
      ? await checkInThreads(root, scope, { onProgress, privateBlocked })
      : await checkChanges(root, { base, head }, scope, { onProgress, privateBlocked }),
  );
  process.stdout.write(printReport(report, format));
  if (report.findings.some(({ severity }) => severity === 'error')) process.exitCode = 1;
}
