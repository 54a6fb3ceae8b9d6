import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crc32, gzipSync } from 'node:zlib';

/*
 * Packs the clients of `clients/` into `dist/packages`, from where the service serves them and a release publishes them: a
 * tarball for npm and a wheel for pip. The same sources make the same bytes. clients/typescript has to be compiled.
 */
const top = fileURLToPath(new URL('.', import.meta.resolve('#package')));
const packages = join(top, 'dist/packages');

/** 1 January 1985, the date of each packed file, as npm has it. */
const secondsOf1985 = 473_385_600;

type Files = Readonly<Record<string, Buffer>>;

rmSync(packages, { recursive: true, force: true });
mkdirSync(packages, { recursive: true });
for (const [name, bytes] of [
  packTypeScript(join(top, 'clients/typescript')),
  packPython(join(top, 'clients/python')),
])
  writeFileSync(join(packages, name), bytes);

function packTypeScript(folder: string): [string, Buffer] {
  const built = readdirSync(join(folder, 'dist')).map((name) => `dist/${name}`);
  const names = ['package.json', 'README.md', ...built.toSorted()];
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const files = names.flatMap((path) => {
    const bytes = readFileSync(join(folder, path));
    const file = [`package/${path}`, bytes] as const;
    if (!path.endsWith('.d.ts')) return [file];
    // For CommonJS, which loads the same module.
    const forCommonJs = bytes.toString().replaceAll(`'./api.ts'`, `'./api.cts'`);
    return [file, [`package/${path.replace(/ts$/, 'cts')}`, Buffer.from(forCommonJs)] as const];
  });
  return [
    `${name.replace('@', '').replace('/', '-')}-${version}.tgz`,
    gzipSync(toTar(Object.fromEntries(files))),
  ];
}

interface Manifest {
  readonly name: string;
  readonly version: string;
}

/** Makes a wheel: https://packaging.python.org/en/latest/specifications/binary-distribution-format/ */
function packPython(folder: string): [string, Buffer] {
  const read = (name: string): Buffer => readFileSync(join(folder, name));
  const project = read('pyproject.toml').toString();
  const find = (pattern: string, text = project): string =>
    new RegExp(`^${pattern} = "(.+)"$`, 'm').exec(text)?.[1] ?? '';
  const module = read('botshelf/__init__.py');
  const [name, version] = [find('name'), find('__version__', module.toString())];
  const info = `${name}-${version}.dist-info`;
  const metadata = [
    'Metadata-Version: 2.1',
    `Name: ${name}`,
    `Version: ${version}`,
    `Summary: ${find('description')}`,
    'License: MIT',
    `Requires-Python: ${find('requires-python')}`,
    'Description-Content-Type: text/markdown',
    '',
    read('README.md').toString(),
  ];
  const wheel = [
    'Wheel-Version: 1.0',
    'Generator: botshelf',
    'Root-Is-Purelib: true',
    'Tag: py3-none-any',
    '',
  ];
  const files: Files = {
    'botshelf/__init__.py': module,
    'botshelf/py.typed': read('botshelf/py.typed'),
    [`${info}/METADATA`]: Buffer.from(metadata.join('\n')),
    [`${info}/WHEEL`]: Buffer.from(wheel.join('\n')),
  };
  const record = Object.entries(files).map(
    ([path, bytes]) => `${path},sha256=${hash('sha256', bytes, 'base64url')},${bytes.length}\n`,
  );
  const all = { ...files, [`${info}/RECORD`]: Buffer.from(`${record.join('')}${info}/RECORD,,\n`) };
  return [`${name}-${version}-py3-none-any.whl`, toZip(all)];
}

/** Returns files as a tar archive (POSIX.1-1988, ustar). */
function toTar(files: Files): Buffer {
  const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, '0')}\0`;
  const blocks = Object.entries(files).flatMap(([path, bytes]) => {
    const header = Buffer.alloc(512);
    const start = [
      path.padEnd(100, '\0'),
      octal(0o644, 8),
      octal(0, 8),
      octal(0, 8),
      octal(bytes.length, 12),
    ].join('');
    header.write(`${start}${octal(secondsOf1985, 12)}${' '.repeat(8)}0${'\0'.repeat(100)}ustar\x0000`);
    header.write(
      octal(
        header.reduce((sum, byte) => sum + byte, 0),
        7,
      ),
      148,
    );
    return [header, bytes, Buffer.alloc(-bytes.length & 511)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

/** Returns files as a ZIP archive, not compressed. */
function toZip(files: Files): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [path, bytes] of Object.entries(files)) {
    const name = Buffer.from(path);
    // Version 2.0, no flags, stored, 1 January 1985.
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE((5 << 9) | (1 << 5) | 1, 8);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(bytes.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(name.length, 22);
    const place = Buffer.alloc(14);
    // A regular file of Unix, 0644.
    place.writeUInt32LE((0o100644 << 16) >>> 0, 6);
    place.writeUInt32LE(offset, 10);
    const entry = Buffer.concat([Buffer.from('PK\x03\x04'), common, name, bytes]);
    directory.push(Buffer.from('PK\x01\x02\x14\x03', 'latin1'), common, place, name);
    parts.push(entry);
    offset += entry.length;
  }
  const listing = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(listing.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, listing, end]);
}
