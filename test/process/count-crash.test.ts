import { ok, strictEqual } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { newPlace, open } from '../support/place.ts';
import { botId } from '../support/sample.ts';

const child = fileURLToPath(new URL('count-crash-child.js', import.meta.url));

describe('after a kill, every answered count is there', () => {
  for (const failpoint of [
    'journal.before-write',
    'journal.after-write',
    'journal.after-rotate',
    'checkpoint.before-commit',
    'checkpoint.after-commit',
    'checkpoint.after-remove',
  ]) {
    it(`at ${failpoint}`, async () => {
      const place = newPlace();
      const args = [child, place.folder, place.refPath, failpoint];
      const { stdout, signal } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 30_000 });
      strictEqual(signal, 'SIGKILL');
      const [asked, answered] = [lastCounts(stdout, 'asked'), lastCounts(stdout, 'answered')];
      strictEqual(answered.size, 20, 'bots were answered');
      const store = await open(place);
      for (const [bot, least] of answered) {
        const count = store.count(botId(`19051930497266${bot}`)) ?? 0;
        const isAnswered = count >= least && count <= (asked.get(bot) ?? 0);
        ok(isAnswered, `bot ${bot} has ${count}, though ${least} was answered`);
      }
    });
  }
});

/** Returns the last count of each bot in the lines that begin with this word. */
function lastCounts(output: string, word: string): Map<string, number> {
  const lines = output.split('\n').map((line) => line.split(' '));
  return new Map(
    lines.flatMap(([said, bot, count]) =>
      said === word && bot !== undefined ? [[bot, Number(count)] as const] : [],
    ),
  );
}
