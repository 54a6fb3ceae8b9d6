import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FullImages } from '../../schemas/types.ts';
import type { BotId } from '../../src/bot/id.ts';
import { type Log, silentLog } from '../../src/lib/log.ts';
import { bytes } from '../support/https-site.ts';
import { homer, nameOf, openTestImages, type TestImages } from '../support/image-cache.ts';
import { botId } from '../support/sample.ts';
import { sampleImage } from '../support/sample-images.ts';

const marge = botId('190519304972663313');

describe('the image cache, over time,', () => {
  let test: TestImages;

  beforeEach(async () => void (test = await openTestImages()));
  afterEach(async () => await test.cache.close());

  it('has after a restart what it had, and fetches nothing again @long', async () => {
    await test.want(test.all());
    const before = test.cache.cachedImages(test.all());
    await test.reopen();
    deepEqual(test.cache.cachedImages(test.all()), before);
    await test.scan(test.all());
    equal(test.site.asked.length, 4);
    equal(test.cache.status().cached, 4);
  });

  it('has what is whole of an index that was cut off, damaged or made by other code, and goes on from there @slow', async () => {
    await test.want(test.all());
    const before = test.cache.cachedImages(test.all());
    await test.cache.close();
    const index = join(test.folder, 'index');
    const text = readFileSync(index, 'utf8');
    for (const [damaged, cached] of [
      [text.slice(0, -3), 3],
      [text.replace('/cover.jpg', '/other.jpg'), 3],
      [text.replace('images 1', 'images 0'), 0],
      [Buffer.alloc(5000, 0xff), 0],
    ] as const) {
      writeFileSync(index, damaged);
      await test.reopen();
      equal(test.cache.status().cached, cached);
      await test.scan(test.all());
      await test.reopen();
      deepEqual(test.cache.cachedImages(test.all()), before);
      await test.cache.close();
    }
  });

  it('keeps old copies while an index that was lost names none', async () => {
    await test.want(test.avatarOnly());
    await test.cache.close();
    rmSync(join(test.folder, 'index'));
    for (const file of test.files()) utimesSync(file, new Date(0), new Date(0));
    await test.reopen();
    await test.cache.setWanted([]);
    equal(test.files().length, 1);
  });

  it('fetches again what somebody has deleted from its folder @long', async () => {
    await test.want(test.avatarOnly());
    const before = test.cache.cachedImages(test.avatarOnly());
    for (const name of readdirSync(test.folder))
      if (name !== 'index') rmSync(join(test.folder, name), { recursive: true });
    await test.reopen();
    await test.scan(test.avatarOnly());
    deepEqual(test.cache.cachedImages(test.avatarOnly()), before);
    deepEqual(test.site.asked, ['/avatar.png', '/avatar.png']);
    ok(await test.cache.read(nameOf(before.avatar)));
  });

  it('serves the new image when an old copy is refreshed, and keeps the former file for pages just sent @long', async () => {
    await test.want(test.avatarOnly());
    const before = test.avatar();
    test.site.answers['/avatar.png'] = bytes(await sampleImage({ seed: 77 }));
    await test.reopen({ intervals: { refreshMs: 0 } });
    const told: (readonly BotId[])[] = [];
    test.cache.onChange((bots) => told.push(bots));
    await test.cache.setWanted([[homer, test.avatarOnly()]]);
    equal(test.avatar(), before);
    await test.cache.idle();
    const now = test.avatar();
    ok(now !== before);
    deepEqual(told, [[homer]]);
    await test.cache.setWanted([[homer, test.avatarOnly()]]);
    ok(await test.cache.read(nameOf(before)));
  });

  it('keeps the last good copy when the address has died @long', async () => {
    await test.want(test.avatarOnly());
    const before = test.cache.cachedImages(test.avatarOnly());
    delete test.site.answers['/avatar.png'];
    await test.reopen({ intervals: { refreshMs: 0 } });
    await test.scan(test.avatarOnly());
    deepEqual(test.cache.cachedImages(test.avatarOnly()), before);
    equal(test.cache.status().failing, 1);
    await test.reopen({ intervals: { refreshMs: 0 } });
    await test.scan(test.avatarOnly());
    deepEqual(test.site.asked, ['/avatar.png', '/avatar.png']);
    deepEqual(test.cache.cachedImages(test.avatarOnly()), before);
  });

  it('retries an image that failed, until it is there @slow', async () => {
    await test.reopen({
      intervals: { firstRetryMs: 1, lastRetryMs: 5, retryCheckMs: 1, firstHostPauseMs: 1 },
    });
    const image = bytes(await sampleImage());
    test.site.answers['/late.png'] = (response, request) => {
      if (test.site.asked.length > 3) image(response, request);
      else response.writeHead(503).end();
    };
    const arrived = new Promise((resolve) => {
      test.cache.onChange(resolve);
    });
    test.cache.want(homer, { avatar: test.at('/late.png'), cover: null, preview: [] });
    deepEqual(await arrived, [homer]);
    equal(test.site.asked.length, 4);
    equal(test.cache.status().failing, 0);
  });

  it('retries nothing before its time', async () => {
    await test.scan({ avatar: test.at('/none.png'), cover: null, preview: [] });
    await test.reopen({ intervals: { retryCheckMs: 1 } });
    await test.scan({ avatar: test.at('/none.png'), cover: null, preview: [] });
    deepEqual(test.site.asked, ['/none.png']);
  });

  it('drops what nothing names, image and file, and keeps what is named @slow', async () => {
    await test.reopen({ intervals: { graceMs: 0 } });
    await test.cache.setWanted([
      [homer, test.avatarOnly()],
      [marge, { avatar: null, cover: test.at('/cover.jpg'), preview: [] }],
    ]);
    await test.cache.idle();
    const kept = test.avatar();
    equal(test.files().length, 2);
    for (const file of test.files()) utimesSync(file, new Date(0), new Date(0));
    await test.cache.setWanted([[homer, test.avatarOnly()]]);
    await test.cache.setWanted([[homer, test.avatarOnly()]]);
    deepEqual(test.files().map(nameOf), [nameOf(kept)]);
    deepEqual(test.cache.cachedImages(test.all()).cover, null);
    await test.reopen();
    deepEqual(test.cache.status(), { known: 1, cached: 1, failing: 0, left: 0 });
  });

  it('counts the grace period of what nothing names from before a restart', async () => {
    await test.want(test.avatarOnly());
    await test.cache.setWanted([]);
    await test.reopen({ intervals: { graceMs: 1 } });
    await test.cache.setWanted([]);
    equal(test.cache.status().known, 0);
  });

  it('serves an image that is named again within its grace period at once @slow', async () => {
    await test.want(test.avatarOnly());
    await test.cache.setWanted([]);
    delete test.site.answers['/avatar.png'];
    test.cache.want(homer, test.avatarOnly());
    ok(test.avatar());
    equal(test.site.asked.length, 1);
  });

  it('waits for the disk when it is at fault, not the image, and says what to do @long', async () => {
    const said: string[] = [];
    const log: Log = { ...silentLog, error: (_fields, message) => said.push(message) };
    const digits = '0123456789abcdef'.split('');
    mkdirSync(test.folder, { recursive: true });
    for (const digit of digits) writeFileSync(join(test.folder, digit), 'a file where a folder should be');
    const serve = bytes(await sampleImage());
    test.site.answers['/avatar.png'] = (response, request) => {
      if (test.site.asked.length === 3) for (const digit of digits) rmSync(join(test.folder, digit));
      serve(response, request);
    };
    await test.reopen({ log, intervals: { storePauseMs: 1 } });
    await test.want(test.avatarOnly());
    ok(test.avatar());
    match(said[0] ?? '', /^could not store an image: .+; check the folder of the image cache, retrying$/);
    equal(test.cache.status().failing, 0);
  });

  it('logs how far it is while there is work, and once more when there is none left @long', async () => {
    const said: string[] = [];
    let tell: (() => void) | undefined;
    const finished = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const info = (_fields: object, message: string): void => {
      said.push(message);
      if (message.endsWith(' 0 left')) tell?.();
    };
    await test.reopen({ log: { ...silentLog, info }, intervals: { progressMs: 5 } });
    test.cache.want(homer, { ...test.all(), cover: test.at('/none.png') });
    await finished;
    equal(said.at(-1), 'image cache: 3 fetched, 1 failed, 0 left');
  });

  it('closes in the middle of its work, and goes on with it after the next start @long', async () => {
    let asked: (() => void) | undefined;
    const reached = new Promise<void>((resolve) => {
      asked = resolve;
    });
    test.site.answers['/slow.png'] = () => asked?.();
    const images: FullImages = { avatar: test.at('/slow.png'), cover: test.at('/cover.jpg'), preview: [] };
    test.cache.want(homer, images);
    await reached;
    await test.cache.close();
    test.site.answers['/slow.png'] = bytes(await sampleImage());
    await test.reopen();
    await test.scan(images);
    equal(test.cache.status().cached, 2);
  });
});
