import { type Command, Option } from 'commander';
import type { CheckReport } from '../catalogue/check.ts';
import { checkChanges } from '../catalogue/check-changes.ts';
import { checkOnAllProcessors } from '../catalogue/parallel-check.ts';
import { botsFolder } from '../catalogue/layout.ts';
import { readConfig } from '../config.ts';
import { changedFiles } from '../git/changed-files.ts';
import { catalogueScope } from './catalogue-scope.ts';
import { printReport, type ReportFormat, reportFormats } from './check-report.ts';
import { progressOn } from './progress.ts';

/** Registers `botshelf check`. */
export function addCheck(program: Command): void {
  program
    .command('check')
    .description('hold the catalogue against its rules and name every fault with its fix')
    .argument('[paths...]', 'files or folders below bots/ (default: all of it)')
    .option('--base <revision>', 'look at what changed since it branched off, and add the rules about change')
    .addOption(
      new Option('--format <format>', 'how to report: lines, GitHub annotations, one JSON document')
        .choices(reportFormats)
        .default('text'),
    )
    .addHelpText('after', '\nExit code: 0 no fault, 1 faults found, 2 the check could not be made.')
    .action(check);
}

interface CheckOptions {
  readonly base?: string;
  readonly format: ReportFormat;
}

async function check(paths: string[], { base, format }: CheckOptions): Promise<void> {
  const { catalogue: root } = readConfig();
  const scope = catalogueScope(root, paths);
  const progress = progressOn(process.stderr);
  const onProgress = (files: number): void => progress.show(`${files} files checked`);
  let report: CheckReport;
  try {
    report =
      base === undefined
        ? await checkOnAllProcessors(root, scope, onProgress)
        : checkChanges(root, scope, await changedFiles(root, base, botsFolder), onProgress);
  } finally {
    progress.end();
  }
  process.stdout.write(printReport(report, format));
  if (report.findings.some(({ severity }) => severity === 'error')) process.exitCode = 1;
}
