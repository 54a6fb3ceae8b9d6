import { deepStrictEqual, match, notStrictEqual, strictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chownSync, cpSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { mainFile } from '../support/command-line.ts';
import { packageFolder } from '../support/clone.ts';
import { eventually } from '../support/eventually.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { originRemote, startTestServiceProcess, type TestServiceProcess } from '../support/service.ts';
import { type SharedRepository, sharedRepository } from '../support/shared-repository.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { issueTestTokens } from '../support/token.ts';
import { updateRequest } from '../support/update-request.ts';

const [homer, lenny] = ['190519304972663312', '190519304972663313'];

/** The user of the service: another than root, where the tests run as root. */
const isRoot = process.getuid?.() === 0;
const asUser: readonly [string, ...string[]] = isRoot
  ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
  : ['env'];

function runAsUser(folder: string, ...args: readonly string[]): string {
  const [program, ...options] = asUser;
  const env = { PATH: process.env['PATH'], HOME: folder };
  return execFileSync(program, [...options, ...args], { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' });
}

describe('a backup, made and restored by the commands of docs/production.md as the user of the service', () => {
  let shared: SharedRepository;
  /** What is below /srv/botshelf: on the first machine, with the backup. */
  let first: string;
  let tokens: ReadonlyMap<string, string>;

  /** Counts stay in the journal, but for the first: the state is committed once an hour. */
  const settings = {
    ...originRemote,
    BOTSHELF_STATE_SECONDS: '3600',
    BOTSHELF_OAUTH_PROVIDER: 'discord',
    BOTSHELF_OAUTH_CLIENT_ID: '1',
    BOTSHELF_OAUTH_CLIENT_SECRET: 'not used',
  };

  /** Runs git in the repository on the Git host. */
  function git(...args: string[]): string {
    return runAsUser(shared.folder, 'git', ...args);
  }

  /** Returns the commands of the document's section "Backups", line by line. */
  function commands(): string[] {
    const text = readFileSync(join(packageFolder, 'docs/production.md'), 'utf8');
    const section = text.slice(text.indexOf('\n## Backups'), text.indexOf('\n## How large'));
    const blocks = [...section.matchAll(/^```console\n([^]*?)^```$/gm)].map(([, block = '']) => block);
    const inline = [...section.matchAll(/`(sudo -u botshelf [^`]+)`/g)].map(([, line = '']) => line);
    return [...inline, ...blocks];
  }

  function run(script: string, home: string): void {
    const sudo = `sudo() { shift 2; ${asUser.join(' ')} "$@"; }`;
    const text = script.replaceAll('/srv/botshelf', home);
    execFileSync('bash', ['-e', '-c', `${sudo}\n${text}`], {
      env: { PATH: process.env['PATH'], HOME: home },
    });
  }

  /** Makes a machine: a folder with a new clone, as steps 2 and 4 of the document leave it. */
  function machine(): string {
    const home = tempFolder();
    giveToUser(home);
    runAsUser(home, 'git', 'clone', '-q', shared.address, 'catalogue');
    return home;
  }

  async function serve(home: string): Promise<TestServiceProcess> {
    const command = [...asUser, process.execPath, mainFile, 'serve'] as const;
    return await startTestServiceProcess(
      {},
      { root: join(home, 'catalogue'), env: { ...settings, HOME: home }, command: [...command] },
    );
  }

  async function post(service: TestServiceProcess, id: string, bot: object): Promise<number> {
    return (await service.request(`/api/v2/bots/${id}`, updateRequest(tokens.get(id) ?? '', bot))).status;
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
    giveToUser(dirname(shared.folder));
    first = machine();
    const service = await serve(first);
    strictEqual(await post(service, homer, { count: 10, website: 'https://example.org/posted' }), 200);
    await eventually(() => match(git('show', 'refs/botshelf/state:33/12.json'), /"count":10,/));
    strictEqual(await post(service, lenny, { count: 20 }), 200);
    const [makeFolder = '', makeMirror = '', backUp = ''] = commands();
    for (const script of [makeFolder, makeMirror, backUp]) run(script, first);
    strictEqual(await service.end('SIGKILL'), null);
  });

  it('of the Git host alone, lacks the counts since the last push and the key of the cookies, and no more', async () => {
    const third = machine();
    const service = await serve(third);
    const { json } = await service.request(`/api/v2/bots/${homer}`);
    strictEqual(json.website, 'https://example.org/posted');
    deepStrictEqual(await order(service), [homer, lenny], 'the count of lenny was in the journal');
    notStrictEqual(cookieSecret(third), cookieSecret(first));
    strictEqual(await post(service, homer, { nsfw: true }), 200, 'tokens are in the state');
    await service.end('SIGKILL');
  });

  it('with var, has everything: bots, tokens, the counts of the last minute, and the key of the cookies', async () => {
    const second = machine();
    cpSync(join(first, 'backup'), join(second, 'backup'), { recursive: true });
    giveToUser(second);
    run(commands()[3] ?? '', second);
    const service = await serve(second);
    deepStrictEqual(await order(service), [lenny, homer]);
    strictEqual(cookieSecret(second), cookieSecret(first));
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

function giveToUser(folder: string): void {
  if (!isRoot) return;
  for (const name of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })])
    chownSync(join(folder, name), 65534, 65534);
}
