import type { CheckReport } from '../check/check.ts';
import { checkChanges } from '../check/check-changes.ts';
import { checkInThreads } from '../check/parallel-check.ts';
import { readConfig } from '../config.ts';
import { revisionRange } from '../git/inspect/revision-range.ts';
import { UserError } from '../user-error.ts';
import { catalogueScope } from './catalogue-scope.ts';
import { printReport, type ReportFormat } from './check-report.ts';
import { progressOn } from './progress.ts';

export interface CheckFlags {
  readonly base?: string;
  readonly head?: string;
  readonly format: ReportFormat;
}

/** Checks the catalogue and prints the report; the exit code is 1 when it has errors. @throws {UserError} */
export async function check(paths: string[], { base, head, format }: CheckFlags): Promise<void> {
  const { catalogue: root } = readConfig();
  if (head !== undefined && base === undefined) {
    throw new UserError('--head needs --base: name the revision to compare it with');
  }
  const scope = catalogueScope(root, paths);
  const progress = progressOn(process.stderr);
  const onProgress = (files: number): void => progress.show(`${files} files checked`);
  let report: CheckReport;
  try {
    report =
      base === undefined
        ? await checkInThreads(root, scope, onProgress)
        : await checkChanges(root, await revisionRange(root, base, head), scope, onProgress);
  } finally {
    progress.end();
  }
  process.stdout.write(printReport(report, format));
  if (report.findings.some(({ severity }) => severity === 'error')) process.exitCode = 1;
}
