import { toErrorFinding } from '../check/check.ts';
import { formatCatalogue } from '../check/format.ts';
import { readConfig } from '../app/config.ts';
import { toScope } from './catalogue-scope.ts';
import { formatText } from './check-report.ts';
import { showFiles } from './progress.ts';
import { formatCount } from '../lib/text.ts';

/** Rewrites files in their canonical form; the exit code is 1 when one cannot be read or would change. @throws {UserError} */
export async function format(
  paths: string[],
  { check = false }: { readonly check?: boolean },
): Promise<void> {
  const { catalogue: root } = readConfig();
  const scope = toScope(root, paths);
  const { files, changed, faults } = await showFiles(
    'read',
    async (onProgress) => await formatCatalogue(root, scope, !check, onProgress),
  );
  const parts = [formatCount(files, 'file'), `${changed.length} ${check ? 'to format' : 'formatted'}`];
  if (faults.length > 0) parts.push(`${faults.length} left alone`);
  const lines = [
    ...changed,
    ...faults.map((fault) => formatText(toErrorFinding(fault))),
    parts.join(', '),
    '',
  ];
  process.stdout.write(lines.join('\n'));
  if (faults.length > 0 || (check && changed.length > 0)) process.exitCode = 1;
}
