import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkImages, checkJournal, checkState } from '../../src/commands/doctor.ts';
import { checkLogin, findServiceCommand } from '../../src/commands/doctor-network.ts';
import type { DoctorResult } from '../../src/commands/doctor-results.ts';
import { ImageIndex } from '../../src/images/store.ts';
import { formatJournalLine } from '../../src/counts/journal.ts';
import { botshelf, type Run } from '../support/command-line.ts';
import { doctorContext } from '../support/doctor.ts';
import { freePort } from '../support/loopback.ts';
import { startProvider } from '../support/login-provider.ts';
import { loginEnv } from '../support/login-site.ts';
import { repositoryIn, testRepository } from '../support/repository.ts';
import { botId, mainPage, pagePath } from '../support/sample.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { issueTestToken } from '../support/token.ts';

/** The checks whose results depend on the machine that the tests run on. */
const ofMachine = new Set(['file system', 'disk space', 'inotify', 'open files']);

describe('botshelf doctor', () => {
  let service: TestService;
  let env: Record<string, string>;
  before(async () => {
    service = await startTestService({ [pagePath('7')]: mainPage() });
    env = { PORT: new URL(service.address).port, BOTSHELF_IMAGES: 'off' };
    await issueTestToken(service.root, '7');
  });
  const resultsOf = ({ stdout }: Run): readonly DoctorResult[] =>
    (JSON.parse(stdout) as { checks: DoctorResult[] }).checks;
  const wrongIn = (results: readonly DoctorResult[]): readonly DoctorResult[] =>
    results.filter(({ name, state }) => state !== 'ok' && !ofMachine.has(name));

  it('finds nothing wrong beside a service that runs, and changes nothing @slow', async () => {
    const before = repositoryIn(service.root).git('for-each-ref');
    const run = await botshelf(service.root, ['doctor', '--json'], { env });
    const results = resultsOf(run);
    deepStrictEqual(wrongIn(results), []);
    strictEqual(results.length, 19);
    if (results.every(({ state }) => state === 'ok')) strictEqual(run.code, 0);
    match(results.find(({ name }) => name === 'state')?.reason ?? '', /refs\/botshelf\/state has 1 bot$/);
    strictEqual(repositoryIn(service.root).git('for-each-ref'), before);
    strictEqual(repositoryIn(service.root).status(), '');
  });

  it('names a setting that cannot be used as an error, and checks all else @slow', async () => {
    const faulty = { ...env, BOTSHELF_NOTIFY_URL: 'x', BOTSHELF_RATE_LIMIT: '-1' };
    const run = await botshelf(service.root, ['doctor', '--json'], { env: faulty });
    const wrong = wrongIn(resultsOf(run)).map(({ name, state, reason }) => `${state} ${name}: ${reason}`);
    deepStrictEqual([run.code, wrong.length], [2, 1]);
    match(wrong[0] ?? '', /^error settings: BOTSHELF_RATE_LIMIT is "-1": .*BOTSHELF_NOTIFY_URL is not/);
  });

  it('ends with 1 and the fix for what is only a warning', async () => {
    const { folder } = testRepository({ [pagePath('7')]: mainPage({ category: 'cars' }) });
    const mistyped = { PORT: String(await freePort()), BOTSHELF_REMOT: 'origin' };
    const run = await botshelf(folder, ['doctor', '--json'], { env: mistyped });
    deepStrictEqual(
      wrongIn(resultsOf(run)).map(({ name, state, fix }) => `${state} ${name}: ${fix}`),
      [
        'warning settings: did you mean BOTSHELF_REMOTE?',
        `warning service: ${findServiceCommand('start')}`,
        'warning files: botshelf check',
      ],
    );
    strictEqual(run.code, 1);
  });

  it('ends with 2 for an error, with readable lines and what mends it', async () => {
    const run = await botshelf(tempFolder(), ['doctor'], { env });
    strictEqual(run.code, 2);
    match(run.stdout, /^error {4}clone {9}.* is in no Git repository.*\n {23}fix: run "git init" there/m);
    match(run.stdout, /^ok {7}push {10}not checked: there is no clone$/m);
    match(run.stdout, /\n\n\d+ ok, warnings: \d+, errors: \d+\n$/);
  });
});

describe('what botshelf doctor says of the state', () => {
  it('is what waits in the journal, and what of it is damaged', async () => {
    const context = doctorContext(tempFolder());
    strictEqual((await checkJournal(context)).reason, 'all counts are committed');
    const folder = join(context.config.var, 'journal');
    mkdirSync(folder, { recursive: true });
    const line = formatJournalLine({ id: botId('7'), count: 1, countedAt: 2 });
    writeFileSync(join(folder, '000000000001.ndjson'), line);
    strictEqual((await checkJournal(context)).reason, '1 count not committed yet');
    writeFileSync(join(folder, '000000000002.ndjson'), `${line}junk\n`);
    const { state, reason } = await checkJournal(context);
    match(`${state} ${reason}`, /^error .*000000000002\.ndjson:2: 1 damaged line$/);
  });

  it('is which lines of the state ref cannot be read', async () => {
    const { folder, git, write } = testRepository({ [pagePath('7')]: mainPage() });
    strictEqual((await checkState(doctorContext(folder))).reason, 'there are no counts and tokens yet');
    write('state.json', '{\n"7":{"count":1,"countedAt":2},\n"8":junk\n}\n');
    const blob = git('hash-object', '-w', 'state.json');
    git('read-tree', '--empty');
    git('update-index', '--add', '--cacheinfo', `100644,${blob},00/07.json`);
    git('update-ref', 'refs/botshelf/state', git('commit-tree', '-m', 'Count', git('write-tree')));
    git('read-tree', 'HEAD');
    const { state, reason } = await checkState(doctorContext(folder));
    match(
      `${state} ${reason}`,
      /^error .*refs\/botshelf\/state has 1 faulty line, the first is 00\/07\.json:3/,
    );
  });
});

describe('what botshelf doctor says of pictures and the login', () => {
  it('is which pictures cannot be had, and why', async () => {
    const context = doctorContext(tempFolder());
    mkdirSync(join(context.config.var, 'appdata'), { recursive: true });
    const index = await ImageIndex.open(join(context.config.var, 'appdata/index'));
    const entry = index.getOrCreate('avatar', 'https://example.org/gone.png');
    entry.failure = { count: 3, retryAt: 1, message: 'responds with status 404', since: 1 };
    index.noteChange(entry);
    const badge = index.getOrCreate('wide', 'https://example.org/badge.svg');
    badge.failure = { count: 1, retryAt: 1, message: 'is an SVG', since: null };
    index.noteChange(badge);
    await index.close();
    const { state, reason } = await checkImages(context);
    match(
      `${state} ${reason}`,
      /^warning .*fetched: https:\/\/example\.org\/gone\.png responds with status 404$/,
    );
  });

  it('is whether the discovery document is there', async () => {
    const folder = tempFolder();
    strictEqual((await checkLogin(doctorContext(folder))).state, 'ok');
    const provider = await startProvider('http://localhost:8080');
    const { BOTSHELF_SECRET: _secret, ...env } = loginEnv(provider.settings, []);
    const check = async (more: object = {}): Promise<string> => {
      const { state, reason } = await checkLogin(doctorContext(folder, { ...env, ...more }));
      return `${state} ${reason}`;
    };
    match(await check(), /has a valid discovery document; its redirect/);
    match(await check({ BOTSHELF_BASE_URL: 'http://bots.example.org' }), /has no https/);
    provider.answer('/.well-known', 'with HTML');
    match(await check(), /^error .*the discovery document of http:.* cannot be used/);
  });
});
