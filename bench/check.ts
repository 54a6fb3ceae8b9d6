import { takeNumbers } from './load.ts';
import { type RunTime, timeScript } from './processes.ts';
import type { Row } from './rows.ts';
import { editPage, git, type Stage } from './stage.ts';
import { runTimeRow, timeReading } from './starts.ts';

/** The command `check`: of everything, and of one changed page. */
export async function* check(stage: Stage): AsyncGenerator<Row> {
  const reading = timeReading(stage);
  const time = (...args: string[]): RunTime =>
    timeScript('src/main.js', ['check', ...args], { BOTSHELF_CATALOGUE: stage.catalogue });
  const commit = (keys: Readonly<Record<string, unknown>>): void => {
    editPage(stage.catalogue, stage.bots[0]?.path ?? '', keys);
    git(stage.catalogue, 'commit', '--quiet', '-a', '-m', 'Change a page');
  };
  const timeBase = (): RunTime[] => [1, 2, 3].map(() => time('--base', 'HEAD~1'));

  yield runTimeRow('check of everything', [time()], reading, 3);
  commit({ website: `https://example.org/${takeNumbers(1)}` });
  yield runTimeRow('check --base, one changed page', timeBase(), reading, 0.4);
  const unique = takeNumbers(1);
  commit({ name: `Bench ${unique}`, invite: `https://example.org/invite/${unique}` });
  yield runTimeRow('check --base, a new name and invite', timeBase(), reading, 0.4);
}
