import { execFileSync } from 'node:child_process';
import { takeNumbers } from './request.ts';
import type { Row } from './row.ts';
import { leastReadingRow, type RunTime, runTimeRow, timeReading, timeScript } from './run-time.ts';
import { editPage, type Stage } from './stage.ts';

/** The command `check`: of everything, and of one changed page. */
export async function* check(stage: Stage): AsyncGenerator<Row> {
  const reading = timeReading(stage);
  yield runTimeRow('check of everything', timeCheck(stage, 1), reading, 3);
  commitEdit(stage, { website: `https://example.org/${takeNumbers(1)}` });
  const base = ['--base', 'HEAD~1'];
  yield runTimeRow('check --base of one changed page', timeCheck(stage, 3, ...base), reading, 0.4);
  const unique = takeNumbers(1);
  commitEdit(stage, { name: `Bench ${unique}`, invite: `https://example.org/invite/${unique}` });
  yield runTimeRow(
    'check --base of one page with a new name and invite',
    timeCheck(stage, 3, ...base),
    reading,
    0.4,
  );
  yield leastReadingRow(stage);
}

/** Runs the whole command. */
function timeCheck(stage: Stage, runs: number, ...args: string[]): RunTime[] {
  const env = { BOTSHELF_CATALOGUE: stage.catalogue };
  return Array.from({ length: runs }, () => timeScript('src/main.js', ['check', ...args], env));
}

/** Commits a change of one page. */
function commitEdit({ catalogue, bots }: Stage, keys: Readonly<Record<string, unknown>>): void {
  const page = bots[0]?.path ?? '';
  editPage(catalogue, page, keys);
  const identity = ['-c', 'user.name=Bench', '-c', 'user.email=bench@localhost'];
  execFileSync('git', [...identity, 'commit', '--quiet', '-m', 'Change a page', '--', page], {
    cwd: catalogue,
  });
}
