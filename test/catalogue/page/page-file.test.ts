import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, linkSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { parsePagePath } from '../../../src/catalogue/page/layout.ts';
import { type PageFile, readPageFile } from '../../../src/catalogue/page/page-file.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { tempFolder, writeFiles } from '../../support/temp-folder.ts';

const path = pagePath('7');

function read(root: string): PageFile | undefined {
  const place = parsePagePath(path);
  if (place === undefined) throw new Error(path);
  return readPageFile(root, place);
}

/** Returns the only fault of an entry that `make` creates at the page's path. */
function fault(make: (absolute: string, root: string) => void): string {
  const root = tempFolder();
  mkdirSync(dirname(join(root, path)), { recursive: true });
  make(join(root, path), root);
  const file = read(root);
  strictEqual(file?.page, undefined);
  deepStrictEqual(
    file?.faults.map(({ line, column }) => [line, column]),
    [[1, 1]],
  );
  return file.faults.map(({ path, rule, message }) => `${path} ${rule} ${message}`).join('');
}

describe('the file of a page', () => {
  it('has its size and its blob id in Git, and keeps its bytes when the next file is read', () => {
    const root = tempFolder({ [path]: mainPage({}, 'first') });
    const sha = execFileSync('git', ['hash-object', '--no-filters', path], { cwd: root }).toString().trim();
    const file = read(root);
    deepStrictEqual(
      [file?.sha, file?.size, file?.faults],
      [sha, Buffer.byteLength(mainPage({}, 'first')), []],
    );
    writeFiles(root, { [path]: mainPage({}, 'other') });
    read(root);
    strictEqual(file?.page?.page, 'first');
  });

  it('is none where nothing is, and may have several names', () => {
    const root = tempFolder();
    strictEqual(read(root), undefined);
    writeFiles(root, { 'bots/007': 'a file where the folder should be' });
    strictEqual(read(root), undefined);
    rmSync(join(root, 'bots/007'));
    writeFiles(root, { [path]: mainPage() });
    linkSync(join(root, path), join(root, 'other'));
    ok(read(root)?.page);
  });

  describe('is refused by name', () => {
    const cases: readonly (readonly [string, (absolute: string, root: string) => void, string])[] = [
      [
        'a symbolic link, to a good page even',
        (absolute, root) => {
          writeFileSync(join(root, 'page.md'), mainPage());
          symlinkSync(join(root, 'page.md'), absolute);
        },
        'a symbolic link',
      ],
      [
        'a symbolic link that leads nowhere',
        (absolute) => symlinkSync('nowhere', absolute),
        'a symbolic link',
      ],
      ['a symbolic link to itself', (absolute) => symlinkSync(absolute, absolute), 'a symbolic link'],
      [
        'a fifo, without waiting for a writer',
        (absolute) => execFileSync('mkfifo', [absolute]),
        'not a regular file',
      ],
      ['a folder', (absolute) => mkdirSync(absolute), 'not a regular file'],
    ];
    for (const [title, make, what] of cases)
      it(`when it is ${title}`, () => {
        const message = fault(make);
        ok(message.startsWith(`${path} regular-file this is ${what}: `), message);
      });

    it('when it is a socket', async () => {
      const root = tempFolder();
      mkdirSync(dirname(join(root, path)), { recursive: true });
      const server = createServer().listen(join(root, path));
      await once(server, 'listening');
      match(read(root)?.faults[0]?.message ?? '', /not a regular file: /);
      server.close();
    });

    it('when the service may not read it', () => {
      const message = asNobody(() =>
        fault((absolute) => {
          writeFileSync(absolute, mainPage());
          chmodSync(absolute, 0);
        }),
      );
      match(message, / regular-file the service may not read the file: give it read permission$/);
    });

    it('when it has a gigabyte, after no more than its first 256 KiB', () => {
      const before = process.memoryUsage().rss;
      match(
        fault((absolute) => {
          writeFileSync(absolute, '');
          truncateSync(absolute, 2 ** 30);
        }),
        / file-size the file has more than 262144 bytes: /,
      );
      ok(process.memoryUsage().rss - before < 2 ** 28, 'the file was not read into memory');
    });
  });
});

/** Runs `work` as an unprivileged user if the tests run as root, who may read everything. */
function asNobody<T>(work: () => T): T {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid?.(65534);
  try {
    return work();
  } finally {
    process.seteuid?.(0);
  }
}
