import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type ImageCopy, type ImageEntry, ImageIndex } from '../../src/images/store.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('the index of the image cache', () => {
  let path: string;

  beforeEach(() => {
    path = join(tempFolder(), 'appdata', 'index');
  });

  it('survives kill -9: cut off at any byte it reads what was whole before, and goes on from there @slow', async () => {
    await filled(path, 4);
    const bytes = readFileSync(path);
    const lines = bytes.toString().split('\n').length - 2;
    equal(lines, 4);
    for (let cut = 0; cut <= bytes.length; cut += 7) {
      writeFileSync(path, bytes.subarray(0, cut));
      const whole = Math.max(0, bytes.subarray(0, cut).toString().split('\n').length - 2);
      const index = await ImageIndex.open(path);
      equal(index.size, whole);
      addCopy(index, 9);
      await index.close();
      deepEqual(await known(path), copiesOf(index));
    }
  });

  it('leaves out a line that is not what was written, and uses nothing of a file of another making', async () => {
    const images = await filled(path, 3);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace(urlOf(1), 'https://example.org/other.png'));
    const expected = copiesOf(images);
    expected.delete(`wide ${urlOf(1)}`);
    deepEqual(await known(path), expected);
    for (const other of [text.replace('images 1', 'images 0'), Buffer.alloc(5000, 0xff)]) {
      writeFileSync(path, other);
      deepEqual(await known(path), new Map());
    }
  });

  it('does not grow with every change', async () => {
    const index = await ImageIndex.open(path);
    const image = index.getOrCreate('wide', urlOf(0));
    for (let time = 0; time < 3000; time += 1) {
      image.copy = { ...copyOf(0), fetchedAt: time };
      index.noteChange(image);
      await index.flush();
    }
    await index.close();
    ok(readFileSync(path, 'utf8').split('\n').length < 1100);
    equal((await known(path)).get(`wide ${urlOf(0)}`)?.copy?.fetchedAt, 2999);
  });

  it('keeps the changes it could not write for the next time', async () => {
    const index = await ImageIndex.open(path);
    addCopy(index, 0);
    writeFileSync(dirname(path), 'a file where the folder should be');
    await rejects(index.flush(), { code: 'EEXIST' });
    rmSync(dirname(path));
    await index.close();
    deepEqual(await known(path), copiesOf(index));
  });
});

/** Returns an index at `path` with this many images. */
async function filled(path: string, count: number): Promise<ImageIndex> {
  const index = await ImageIndex.open(path);
  for (let number = 0; number < count; number += 1) addCopy(index, number);
  await index.close();
  return index;
}

function addCopy(index: ImageIndex, number: number): ImageEntry {
  const image = index.getOrCreate('wide', urlOf(number));
  image.copy = copyOf(number);
  index.noteChange(image);
  return image;
}

async function known(path: string): Promise<ReturnType<typeof copiesOf>> {
  return copiesOf(await ImageIndex.open(path));
}

function copiesOf(images: Iterable<ImageEntry>): Map<string, { copy: ImageCopy | null; failure: unknown }> {
  return new Map([...images].map(({ kind, url, copy, failure }) => [`${kind} ${url}`, { copy, failure }]));
}

function urlOf(number: number): string {
  return `https://example.org/${number}.png`;
}

function copyOf(number: number): ImageCopy {
  return { name: String(number).repeat(64), width: 40, height: 30, fetchedAt: 1_700_000_000_000 + number };
}
