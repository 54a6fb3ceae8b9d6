import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { IndexFile } from '../../src/images/index-file.ts';
import { type ImageCopy, ImageEntries } from '../../src/images/image-entries.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('the index of the image cache', () => {
  let path: string;

  beforeEach(() => {
    path = join(tempFolder(), 'appdata', 'index');
  });

  it('reads back what was known of every picture, by kind', async () => {
    const pictures = await filled(path, 3);
    const both = pictures.getOrCreate('avatar', urlOf(1));
    both.failure = { count: 2, retryAt: 5, message: 'is answered with 404' };
    const index = await IndexFile.open(path, pictures);
    index.changed(both);
    await index.close();
    deepEqual(await known(path), copiesOf(pictures));
  });

  it('writes nothing where nothing was changed', async () => {
    const index = await IndexFile.open(path, new ImageEntries());
    await index.close();
    equal(existsSync(path), false);
  });

  it('forgets what was forgotten', async () => {
    const pictures = new ImageEntries();
    const index = await IndexFile.open(path, pictures);
    const picture = pictures.getOrCreate('wide', urlOf(0));
    picture.copy = copyOf(0);
    index.changed(picture);
    await index.flush();
    pictures.remove(picture);
    index.changed(picture);
    await index.close();
    deepEqual(await known(path), new Map());
  });

  it('survives kill -9: cut off at any byte it reads what was whole before, and goes on from there', async () => {
    await filled(path, 4);
    const bytes = readFileSync(path);
    const lines = bytes.toString().split('\n').length - 2;
    equal(lines, 4);
    for (let cut = 0; cut <= bytes.length; cut += 7) {
      writeFileSync(path, bytes.subarray(0, cut));
      const whole = Math.max(0, bytes.subarray(0, cut).toString().split('\n').length - 2);
      const pictures = new ImageEntries();
      const index = await IndexFile.open(path, pictures);
      equal(pictures.size, whole);
      const picture = pictures.getOrCreate('wide', urlOf(9));
      picture.copy = copyOf(9);
      index.changed(picture);
      await index.close();
      deepEqual(await known(path), copiesOf(pictures));
    }
  });

  it('leaves out a line that is not what was written, and keeps the others', async () => {
    const pictures = await filled(path, 3);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace(urlOf(1), 'https://example.org/other.png'));
    const expected = copiesOf(pictures);
    expected.delete(`wide ${urlOf(1)}`);
    deepEqual(await known(path), expected);
  });

  it('uses nothing of a file of another making', async () => {
    await filled(path, 3);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace('images 1', 'images 0'));
    deepEqual(await known(path), new Map());
    writeFileSync(path, Buffer.alloc(5000, 0xff));
    deepEqual(await known(path), new Map());
  });

  it('does not grow with every change', async () => {
    const pictures = new ImageEntries();
    const index = await IndexFile.open(path, pictures);
    const picture = pictures.getOrCreate('wide', urlOf(0));
    for (let time = 0; time < 3000; time += 1) {
      picture.copy = { ...copyOf(0), fetchedAt: time };
      index.changed(picture);
      await index.flush();
    }
    await index.close();
    ok(readFileSync(path, 'utf8').split('\n').length < 1100);
    equal((await known(path)).get(`wide ${urlOf(0)}`)?.copy?.fetchedAt, 2999);
  });

  it('keeps the changes it could not write for the next time', async () => {
    const pictures = new ImageEntries();
    const index = await IndexFile.open(path, pictures);
    const picture = pictures.getOrCreate('wide', urlOf(0));
    picture.copy = copyOf(0);
    index.changed(picture);
    writeFileSync(dirname(path), 'a file where the folder should be');
    await rejects(index.flush(), { code: 'EEXIST' });
    rmSync(dirname(path));
    await index.close();
    deepEqual(await known(path), copiesOf(pictures));
  });
});

/** An index at `path` that knows of so many pictures. */
async function filled(path: string, count: number): Promise<ImageEntries> {
  const pictures = new ImageEntries();
  const index = await IndexFile.open(path, pictures);
  for (let number = 0; number < count; number += 1) {
    const picture = pictures.getOrCreate('wide', urlOf(number));
    picture.copy = copyOf(number);
    index.changed(picture);
  }
  await index.close();
  return pictures;
}

async function known(path: string): Promise<ReturnType<typeof copiesOf>> {
  const pictures = new ImageEntries();
  await IndexFile.open(path, pictures);
  return copiesOf(pictures);
}

function copiesOf(pictures: ImageEntries): Map<string, { copy: ImageCopy | null; failure: unknown }> {
  return new Map([...pictures].map(({ kind, url, copy, failure }) => [`${kind} ${url}`, { copy, failure }]));
}

function urlOf(number: number): string {
  return `https://example.org/${number}.png`;
}

function copyOf(number: number): ImageCopy {
  return { name: String(number).repeat(64), width: 40, height: 30, fetchedAt: 1_700_000_000_000 + number };
}
