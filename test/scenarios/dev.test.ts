import { match, strictEqual } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { cloneOfPackage } from '../support/clone.ts';

describe('npm run dev', () => {
  it('serves pages, and does not take the messages of node --watch for answers of git', async function () {
    this.timeout(120_000);
    const folder = cloneOfPackage();
    // A group of its own, so that npm, the watching node and the service end together.
    const npm = spawn('npm', ['run', 'dev'], {
      cwd: folder,
      env: { ...process.env, PORT: '0', BOTSHELF_IMAGES: 'off' },
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const gone = once(npm, 'exit');
    const lines: string[] = [];
    try {
      const address = await new Promise<string>((resolve, reject) => {
        createInterface({ input: npm.stderr }).on('line', (line) => {
          lines.push(line);
          const ready = /ready at (http:\/\/[^"\s]+)/.exec(line)?.[1];
          if (ready !== undefined) resolve(ready);
          // Node ends a report of a crash with its version; the watching node then waits for an edit.
          if (line.startsWith('Node.js v')) reject(new Error(lines.join('\n')));
        });
        void gone.then(() => reject(new Error(`npm run dev ended: ${lines.join('\n')}`)));
      });
      const page = await fetch(`${address}/bots/190519304972663312`);
      strictEqual(page.status, 200);
      match(await page.text(), /Homer/);
      const { parts } = (await (await fetch(`${address}/readyz`)).json()) as Health;
      strictEqual(parts.repository.faults.length, 0, parts.repository.faults.join());
    } finally {
      process.kill(-Number(npm.pid), 'SIGTERM');
      await gone;
    }
  });
});

interface Health {
  readonly parts: { readonly repository: { readonly faults: readonly string[] } };
}
