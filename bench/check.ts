import { execFileSync, spawnSync } from 'node:child_process';
import { distPath } from './child.ts';
import { takeNumbers } from './request.ts';
import type { Row } from './row.ts';
import { editPage, type Stage } from './stage.ts';
import { median } from './statistics.ts';

/** The command `check`: of everything, and of one changed page. */
export async function* check(stage: Stage): AsyncGenerator<Row> {
  yield row('check of everything', 25, timeCheck(stage, 1));
  const page = stage.bots[0]?.path ?? '';
  editPage(stage.catalogue, page, { website: `https://example.org/${takeNumbers(1)}` });
  const identity = ['-c', 'user.name=Bench', '-c', 'user.email=bench@localhost'];
  execFileSync('git', [...identity, 'commit', '--quiet', '-m', 'Change a page', '--', page], {
    cwd: stage.catalogue,
  });
  yield row('check --base of one changed page', 1, timeCheck(stage, 5, '--base', 'HEAD~1'));
}

function row(name: string, most: number, seconds: number): Row {
  return { name, measured: `${seconds.toFixed(2)} s`, goal: `≤ ${most} s`, met: seconds <= most };
}

/** The median over `runs` of the whole command, in seconds. */
function timeCheck(stage: Stage, runs: number, ...args: string[]): number {
  const times = Array.from({ length: runs }, () => {
    const started = performance.now();
    const { status, stderr, stdout } = spawnSync(
      process.execPath,
      [distPath('src/main.js'), 'check', ...args],
      { env: { ...process.env, BOTSHELF_CATALOGUE: stage.catalogue }, encoding: 'utf8' },
    );
    if (status !== 0)
      throw new Error(`check ended with ${status}: ${(stderr + stdout).trim().slice(0, 300)}`);
    return (performance.now() - started) / 1000;
  });
  return median(times);
}
