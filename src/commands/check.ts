import { type Command, Option } from 'commander';
import type { CheckReport } from '../check/check.ts';
import { checkChanges } from '../check/check-changes.ts';
import { checkInThreads } from '../check/parallel-check.ts';
import { readConfig } from '../config.ts';
import { revisionRange } from '../git/inspect/revision-range.ts';
import { UserError } from '../user-error.ts';
import { catalogueScope } from './catalogue-scope.ts';
import { printReport, type ReportFormat, reportFormats } from './check-report.ts';
import { progressOn } from './progress.ts';

export function addCheck(program: Command): void {
  program
    .command('check')
    .description('check the catalogue against its rules and print every fault with its fix')
    .argument('[paths...]', 'files or folders below bots/ (default: all of it)')
    .option(
      '--base <revision>',
      'check what the working tree changed since it branched off this revision, and apply the rules about changes too',
    )
    .option('--head <revision>', 'with --base: check the merge of this commit into it, without a checkout')
    .addOption(
      new Option('--format <format>', 'output: lines, GitHub annotations, or one JSON document')
        .choices(reportFormats)
        .default('text'),
    )
    .addHelpText('after', '\nExit code: 0 no faults, 1 faults found, 2 the check could not run.')
    .action(check);
}

interface CheckFlags {
  readonly base?: string;
  readonly head?: string;
  readonly format: ReportFormat;
}

async function check(paths: string[], { base, head, format }: CheckFlags): Promise<void> {
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
