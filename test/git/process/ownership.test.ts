import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { botshelf } from '../../support/command-line.ts';
import { testRepository } from '../../support/repository.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { startServiceProcess } from '../../support/service-process.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/** A user that owns nothing. */
const nobody = 65534;

/**
 * A clone that belongs to somebody else. Only root can give one away: for others a git before the real one makes that
 * take the clone for somebody else's, by the switch that Git's own tests use.
 */
function cloneOfOthers(): { folder: string; env: Readonly<Record<string, string>> } {
  const { folder } = testRepository({ [pagePath('1')]: mainPage() });
  const path = process.env['PATH'] ?? '';
  if (process.getuid?.() === 0) {
    for (const name of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })])
      chownSync(join(folder, name), nobody, nobody);
    return { folder, env: { PATH: path } };
  }
  const programs = join(tempFolder(), 'bin');
  mkdirSync(programs);
  const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const script = `#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec ${git} "$@"\n`;
  writeFileSync(join(programs, 'git'), script, { mode: 0o755 });
  return { folder, env: { PATH: `${programs}:${path}` } };
}

const whoAndWhat =
  /^(\S+) belongs to .*uid \d+\)?, and this runs as .*uid (\d+)\)?: run it as .*uid \d+\)?, or change the owner of the folder \(chown -R \2 \1\)$/;

describe('a clone that belongs to another user', () => {
  it('is refused by the commands in one line: whose it is, who runs this, and what to do', async () => {
    const { folder, env } = cloneOfOthers();
    for (const args of [
      ['token', '1'],
      ['check', '--base', 'HEAD'],
    ]) {
      const { code, stdout, stderr } = await botshelf(folder, args, { env });
      deepStrictEqual([code, stdout], [2, '']);
      match(stderr.trimEnd(), whoAndWhat);
    }
  });

  it('is served, and /readyz says why nothing can be committed', async () => {
    const { folder, env } = cloneOfOthers();
    const service = await startServiceProcess(folder, { ...env, BOTSHELF_VAR: join(tempFolder(), 'var') });
    service.expectLog(/belongs to .*, and this runs as /);
    const { parts } = (await (await fetch(`${service.address}/readyz`)).json()) as Health;
    match(parts.repository.faults.join(), whoAndWhat);
    strictEqual((await fetch(`${service.address}/api/v2/bots/1`)).status, 200);
    strictEqual(await service.end('SIGTERM'), 0);
  });
});

interface Health {
  readonly parts: { readonly repository: { readonly faults: readonly string[] } };
}
