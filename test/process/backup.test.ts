import { deepStrictEqual, match, notStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, cpSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { mainFile } from '../support/command-line.ts';
import { readPackageFile } from '../support/package-files.ts';
import { eventually } from '../support/eventually.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { originRemote, startTestServiceProcess, type TestServiceProcess } from '../support/service.ts';
import { type SharedRepository, sharedRepository } from '../support/shared-repository.ts';
import { tempFolder, writeFiles } from '../support/temp-folder.ts';
import { issueTestTokens } from '../support/token.ts';
import { asNobody, giveToNobody } from './nobody.ts';

const [homer, lenny] = ['190519304972663312', '190519304972663313'];

function runAsUser(folder: string, ...args: readonly string[]): string {
  const [program, ...options] = asNobody;
  const env = { PATH: process.env['PATH'], HOME: folder };
  return execFileSync(program, [...options, ...args], { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' });
}

describe('a backup, made and restored by the commands of docs/production.md as the user of the service', () => {
  let shared: SharedRepository;
  /** The folder for /srv/botshelf on the first machine, with the backup. */
  let first: string;
  let tokens: ReadonlyMap<string, string>;
  /** The count of lenny whose response came before the last backup began. */
  let answered: number;

  /** Counts stay in the journal, but for the first: the state is committed once an hour. */
  const settingsFor = (home: string): Record<string, string> => ({
    ...originRemote,
    BOTSHELF_CATALOGUE: join(home, 'catalogue'),
    BOTSHELF_BLOCKED: join(home, 'blocked.json'),
    BOTSHELF_STATE_SECONDS: '3600',
    BOTSHELF_OAUTH_PROVIDER: 'discord',
    BOTSHELF_OAUTH_CLIENT_ID: '1',
    BOTSHELF_OAUTH_CLIENT_SECRET: 'not-used',
  });

  /** Runs git in the repository on the Git host. */
  function git(...args: string[]): string {
    return runAsUser(shared.folder, 'git', ...args);
  }

  /** The commands of the document's section "Backups": to make one, and to restore it. */
  const [backUp = '', restore = ''] = (() => {
    const text = readPackageFile('docs/production.md');
    const section = text.slice(text.indexOf('\n## Backups'), text.indexOf('\n## How large'));
    return [...section.matchAll(/^```console\n(sudo [^]*?)^```$/gm)].map(([, block = '']) => block);
  })();

  async function run(script: string, home: string): Promise<void> {
    const settings = tempFolder();
    const env = Object.entries(settingsFor(home)).map((setting) => `${setting.join('=')}\n`);
    const botshelf = `#!/bin/sh\nexec '${process.execPath}' '${mainFile}' "$@"\n`;
    writeFiles(settings, { env: env.join(''), botshelf });
    chmodSync(join(settings, 'botshelf'), 0o755);
    const sudo = `sudo() { shift 2; ${asNobody.join(' ')} "$@"; }`;
    const text = script
      .replaceAll('/srv/botshelf', home)
      .replaceAll('/etc/botshelf', settings)
      .replaceAll('git@git.example.org:bots/catalogue.git', shared.address);
    await promisify(execFile)('bash', ['-e', '-c', `${sudo}\n${text}`], {
      env: { PATH: `${settings}:${process.env['PATH']}`, HOME: home },
      cwd: home,
    });
  }

  /** Makes a machine: a folder with a new clone, as steps 2 and 4 of the document leave it. */
  function machine(): string {
    const home = tempFolder({ 'blocked.json': '{}\n' });
    giveToNobody(home);
    runAsUser(home, 'git', 'clone', '-q', shared.address, 'catalogue');
    return home;
  }

  async function serve(home: string): Promise<TestServiceProcess> {
    const command = [...asNobody, process.execPath, mainFile, 'serve'] as const;
    return await startTestServiceProcess(
      {},
      { root: join(home, 'catalogue'), env: { ...settingsFor(home), HOME: home }, command: [...command] },
    );
  }

  async function post(service: TestServiceProcess, id: string, bot: object): Promise<number> {
    return (await service.post(id, tokens.get(id) ?? '', bot)).status;
  }

  /** Returns the bots by their counts, the largest first. */
  async function order(service: TestServiceProcess): Promise<string[]> {
    const { json } = await service.request('/api/v2/bots?sort=-count');
    return json.map(({ id }: { id: string }) => id);
  }

  function cookieSecret(home: string): string {
    return readFileSync(join(home, 'catalogue/var/cookie-secret'), 'utf8');
  }

  before('serve, post and make a backup', async () => {
    shared = sharedRepository({
      [pagePath(homer)]: mainPage({ website: null }),
      [pagePath(lenny)]: mainPage({ name: 'Lenny', invite: 'https://example.org/lenny' }),
    });
    tokens = await issueTestTokens(shared.maintainer.folder, [homer, lenny]);
    shared.maintainer.git('push', '-q', 'origin', 'refs/botshelf/state');
    giveToNobody(dirname(shared.folder));
    first = machine();
    writeFiles(first, { 'catalogue/var/reports/old': 'private' });
    giveToNobody(first);
    const service = await serve(first);
    strictEqual(await post(service, homer, { count: 10, website: 'https://example.org/posted' }), 200);
    await eventually(() => match(git('show', 'refs/botshelf/state:33/12.json'), /"count":10,/));
    strictEqual(await post(service, lenny, { count: 20 }), 200);
    await run(backUp, first);
    answered = 21;
    strictEqual(await post(service, lenny, { count: answered, website: 'https://example.org/lenny' }), 200);
    const making = { ends: false };
    const made = run(backUp, first).finally(() => (making.ends = true));
    for (let count = answered + 1; !making.ends; count++)
      strictEqual(await post(service, lenny, { count, nsfw: count % 2 === 0 }), 200);
    await made;
    strictEqual(await service.end('SIGKILL'), null);
  });

  it('of the Git host alone, lacks the counts since the last push and the key of the cookies, and no more @long', async () => {
    const third = machine();
    const service = await serve(third);
    const { json } = await service.request(`/api/v2/bots/${homer}`);
    strictEqual(json.website, 'https://example.org/posted');
    deepStrictEqual(await order(service), [homer, lenny], 'the count of lenny was in the journal');
    notStrictEqual(cookieSecret(third), cookieSecret(first));
    strictEqual(await post(service, homer, { nsfw: true }), 200, 'tokens are in the state');
    await service.end('SIGKILL');
  });

  it('has everything that was answered before it began, while posts came: edits, tokens, counts, reports and the key of the cookies', async () => {
    const second = tempFolder();
    cpSync(join(first, 'backup'), join(second, 'backup'), { recursive: true });
    giveToNobody(second);
    await run(restore, second);
    const service = await serve(second);
    deepStrictEqual(await order(service), [lenny, homer]);
    const counts = (await service.request('/api/v2/counts')).json as Record<string, { count: number }>;
    ok((counts[lenny]?.count ?? 0) >= answered);
    strictEqual((await service.request(`/api/v2/bots/${lenny}`)).json.website, 'https://example.org/lenny');
    // While the branch follows edits that were pushed after the backup, the files are about to.
    await eventually(() =>
      strictEqual(runAsUser(join(second, 'catalogue'), 'git', 'status', '--porcelain'), ''),
    );
    strictEqual(cookieSecret(second), cookieSecret(first));
    for (const name of ['blocked.json', 'catalogue/var/reports/old'])
      strictEqual(readFileSync(join(second, name), 'utf8'), readFileSync(join(first, name), 'utf8'));
    strictEqual(await post(service, homer, { nsfw: true }), 200);
    await service.end('SIGKILL');
  });

  it('has all that the Git host had', () => {
    const mirror = join(first, 'backup/catalogue.git');
    for (const ref of ['refs/heads/main', 'refs/botshelf/state'])
      match(git('ls-remote', mirror, ref), /^[0-9a-f]{40}\t/, ref);
    git('--git-dir', mirror, 'fsck', '--strict');
  });
});
