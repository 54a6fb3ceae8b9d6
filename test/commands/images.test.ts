import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { takeInstanceLock } from '../../src/git/branch/instance-lock.ts';
import { cleanUp } from '../support/cleanup.ts';
import { botshelf } from '../support/command-line.ts';
import { testRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { tempFolder, writeFiles } from '../support/temp-folder.ts';

describe('botshelf images', () => {
  it('has nothing to do where no bot names a picture @slow', async () => {
    const root = tempFolder({
      [pagePath('7')]: mainPage({ images: { avatar: null, cover: null, preview: [] } }),
    });
    const folder = join(root, 'var', 'appdata');
    deepStrictEqual(await botshelf(root, ['images']), {
      code: 0,
      stdout: `0 of 0 images in ${folder}\n`,
      stderr: '',
    });
    strictEqual(existsSync(join(root, 'var', 'lock')), false);
  });

  it('names the images that could not be fetched, and why, and fetches nothing from within', async () => {
    const root = tempFolder();
    const images = { avatar: 'https://127.0.0.1/a.png', cover: null, preview: ['https://[::1]/b.png'] };
    writeFiles(root, { [pagePath('7')]: mainPage({ images }) });
    const { code, stdout } = await botshelf(root, ['images']);
    match(stdout, /^0 of 2 images in .*\n2 could not be fetched: the service retries them/);
    for (const url of ['https://127.0.0.1/a.png', 'https://[::1]/b.png']) {
      match(stdout.split('\n').find((line) => line.includes(url)) ?? '', /an address that is not public$/);
    }
    strictEqual(code, 1);
  });

  it('leaves it to a service that is running', async () => {
    const root = testRepository({ [pagePath('7')]: mainPage() }).folder;
    const lock = await takeInstanceLock(join(root, 'var'));
    cleanUp(lock.release);
    const { code, stderr } = await botshelf(root, ['images']);
    match(stderr, new RegExp(String(process.pid)));
    strictEqual(code, 2);
  });

  it('fetches nothing where pictures are off', async () => {
    const root = tempFolder({ [pagePath('7')]: mainPage() });
    const { code, stderr } = await botshelf(root, ['images'], { env: { BOTSHELF_IMAGES: 'off' } });
    match(stderr, /^BOTSHELF_IMAGES is off, .*\n$/);
    strictEqual(code, 2);
    strictEqual(existsSync(join(root, 'var')), false);
  });
});
