import type { BotId } from '../../src/bot/id.ts';
import { toShardNumber, toShardPath } from '../../src/counts/shards.ts';
import { gitSync } from './run-sync.ts';

/** A commit of counts that a service made at some time: seconds since the epoch. */
export interface CountCommit {
  readonly time: number;
  readonly counts: Readonly<Record<string, number>>;
}

/** Adds commits to the state ref of a repository, each with its time, on top of what is there. */
export function commitCounts(folder: string, commits: readonly CountCommit[]): void {
  const git = (args: readonly string[], input = ''): string => gitSync({ args, cwd: folder, input });
  const lines = new Map<string, Map<string, string>>();
  const add = (id: string, line: string): string => {
    const path = toShardPath(toShardNumber(id as BotId));
    const shard = lines.get(path) ?? new Map<string, string>();
    lines.set(path, shard.set(id, line));
    return path;
  };
  let tip = '';
  try {
    tip = git(['rev-parse', '--verify', '-q', 'refs/botshelf/state']);
    const names = git(['ls-tree', '-r', '--name-only', tip]).split('\n');
    for (const name of names) {
      for (const [line, id = ''] of git(['show', `${tip}:${name}`]).matchAll(/^"(\d+)":\{.*\}/gm))
        add(id, line);
    }
  } catch {
    // There is no ref yet.
  }
  const parts = commits.map(({ time, counts }, i) => {
    const paths = new Set(
      Object.entries(counts).map(([id, count]) =>
        add(id, `"${id}":{"count":${count},"countedAt":${time * 1000 + 5}}`),
      ),
    );
    const files = [...paths].map((path) => {
      const text = `{\n${[...(lines.get(path)?.values() ?? [])].join(',\n')}\n}\n`;
      return `M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
    });
    const from = i === 0 && tip !== '' ? `from ${tip}\n` : '';
    return `commit refs/botshelf/state\ncommitter Botshelf <botshelf@localhost> ${time} +0000\ndata 8\nCount it\n${from}${files.join('')}\n`;
  });
  git(['fast-import', '--quiet', '--done'], `${parts.join('')}done\n`);
}
