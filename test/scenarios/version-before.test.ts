import { deepStrictEqual, fail, match, notStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KeyRing } from '../../src/login/key-ring.ts';
import { readSecretFile } from '../../src/login/secret-file.ts';
import { Sessions } from '../../src/login/sessions.ts';
import { parseJournalLine, formatJournalLine } from '../../src/counts/journal-segment.ts';
import { atTime } from '../support/at-time.ts';
import { packageFolder } from '../support/clone.ts';
import { eventually } from '../support/eventually.ts';
import { repositoryIn, type TestRepository } from '../support/repository.ts';
import { startTestService, type LocalService } from '../support/service.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { updateRequest } from '../support/update-request.ts';

/**
 * A catalogue of version 0.1.0 with its folder `var`, as a kill -9 of the service left them: two counts are in the journal
 * only. One bot has a picture, two have tokens and counts of three days before.
 */
const fixture = join(packageFolder, 'test/fixtures/version-0.1');
const homer = '190519304972663312';

/** Put together here, so that no file of the project holds what looks like a token. */
const tokens = {
  [homer]: ['bsh', 'sfgXWUYW4yYRSMxRtHimgBQQPvWwPqezMdHPqtceqVb0bOfcG'].join('_'),
  '7': ['bsh', '8vF7UMUoqcxpe7b79ptFIMquyH0CTqP50Ipmml0t12X24KtEO'].join('_'),
};

describe('what version 0.1.0 has stored', () => {
  /** The folder `var` as it was, which no service runs on. */
  let stored: string;
  let clone: TestRepository;
  let service: LocalService;

  before('start this version on it', async () => {
    const folder = tempFolder();
    clone = repositoryIn(folder);
    const unpacked = tempFolder();
    clone.git('clone', '-q', '--branch=main', join(fixture, 'var.bundle'), unpacked);
    stored = join(unpacked, 'var');
    const bundle = join(fixture, 'repository.bundle');
    clone.git('clone', '-q', '--branch=main', bundle, '.');
    clone.git('fetch', '-q', bundle, 'refs/botshelf/state:refs/botshelf/state');
    cpSync(stored, join(folder, 'var'), { recursive: true });
    clone.git('remote', 'remove', 'origin');
    const env = {
      BOTSHELF_IMAGES: 'on',
      BOTSHELF_OAUTH_PROVIDER: 'discord',
      BOTSHELF_OAUTH_CLIENT_ID: '1',
      BOTSHELF_OAUTH_CLIENT_SECRET: 'not used',
    };
    service = await startTestService({}, { root: folder, env });
  });

  function textOf(path: string): string {
    return readFileSync(join(clone.folder, 'var', path), 'latin1');
  }

  it('is served: bots, their pictures, and counts from the journal and of three days before', async () => {
    const bots = await service.request('/api/v2/bots?sort=-count');
    deepStrictEqual(
      bots.json.map(({ id }: { id: string }) => id),
      [homer, '7', '8'],
    );
    const { json } = await service.request(`/api/v2/bots/${homer}`);
    const picture = await fetch(service.address + json.cachedImages.avatar);
    deepStrictEqual([picture.status, picture.headers.get('content-type')], [200, 'image/webp']);
    await eventually(async () => {
      const { json } = await service.request(`/api/v2/bots/${homer}/counts?from=2026-11-19`);
      const counts = json.map(({ count }: { count: number | null }) => count);
      ok(counts.includes(100) && counts.includes(156), counts.join());
    });
  });

  it('has tokens that are still those of their bots', async () => {
    for (const [id, token] of Object.entries(tokens)) {
      const { status } = await service.request(`/api/v2/bots/${id}`, updateRequest(token, { count: 200 }));
      strictEqual(status, 200);
    }
  });

  it('has the key of the cookies, so that everyone stays logged in', async () => {
    const secret = await readSecretFile(join(clone.folder, 'var'));
    strictEqual(`${secret}\n`, readFileSync(join(stored, 'cookie-secret'), 'utf8'));
    const sessions = new Sessions(new KeyRing([secret]), 'https://login.example.org');
    const sealed = readFileSync(join(fixture, 'session.txt'), 'utf8').trim();
    const opened = await atTime(1_700_000_100_000, async () => await sessions.open(sealed));
    deepStrictEqual([opened?.session.id, opened?.session.name], ['190519304972664832', 'Marge']);
  });

  it('can be read by it again: caches have their format in the first line, the state has the same keys', async () => {
    await service.stop();
    const firstLine = (text: string): string => text.slice(0, text.indexOf('\n'));
    const before = (path: string): string => readFileSync(join(stored, path), 'latin1');
    strictEqual(firstLine(textOf('appdata/index')), firstLine(before('appdata/index')));
    match(firstLine(textOf('index.snapshot')), /^botshelf snapshot [0-9a-f]{40}/);
    for (const path of ['count-history', 'index.snapshot'])
      notStrictEqual(firstLine(textOf(path)), firstLine(before(path)));
    deepStrictEqual(readdirSync(join(clone.folder, 'var/journal')), []);
    // It has no other file or ref, which that version could take for something else, but folders that it never reads.
    const known = new Set(readdirSync(stored));
    const more = readdirSync(join(clone.folder, 'var')).filter((name) => !known.has(name));
    // What follows the branch writes its own in the background.
    const following = ['changes', 'tokens-ended', 'tokens-ended.log'];
    deepStrictEqual(new Set([...more, ...following]), new Set([...following, 'drafts', 'reports']));
    const refs = clone.git('for-each-ref', '--format=%(refname)');
    strictEqual(refs, 'refs/botshelf/state\nrefs/heads/main');
    const [journal = ''] = readdirSync(join(stored, 'journal'));
    const lines = before(`journal/${journal}`).replaceAll('\0', '').trim().split('\n');
    for (const line of lines)
      strictEqual(formatJournalLine(parseJournalLine(line) ?? fail(line)), `${line}\n`);
    const state = JSON.parse(clone.git('show', 'refs/botshelf/state:33/12.json'));
    deepStrictEqual(Object.keys(state[homer]), ['count', 'countedAt', 'token', 'tokenAt', 'tokenGen']);
    strictEqual(state[homer].count, 200);
  });
});
