import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolder, readPackageFile } from '../support/package-files.ts';

interface Manifest {
  readonly version: string;
  readonly license?: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

interface LockedPackage {
  readonly version: string;
  readonly license: string;
  readonly dev?: boolean;
  readonly link?: boolean;
}

const read = (path: string): unknown => JSON.parse(readPackageFile(path));
const manifest = read('package.json') as Manifest;
const { packages } = read('package-lock.json') as { packages: Readonly<Record<string, LockedPackage>> };

/** The libraries of the package, and those that they need, by their paths. */
const needed = Object.entries(packages).filter(
  ([path, { dev = false, link = false }]) => path !== '' && !dev && !link,
);

/** `PSF-2.0` is of argparse, for a command line that is not used; the last of libvips, in a package of its own. */
const licences = 'MIT ISC 0BSD BSD-2-Clause BSD-3-Clause Apache-2.0 BlueOak-1.0.0 PSF-2.0 LGPL-3.0-or-later';
const allowed = new Set(licences.split(' '));

describe('docs/dependencies.md', () => {
  const text = readPackageFile('docs/dependencies.md').replaceAll('\n  ', ' ');
  const [service = '', development = ''] = text.split(/^## /m).slice(1);

  it('says of each library of package.json what it is for and its licence, and of no other', () => {
    for (const [part, names] of [
      [service, manifest.dependencies],
      [development, manifest.devDependencies],
    ] as const) {
      const listed = part.split('\n').flatMap((line) => {
        const [, list = '', licence] = /^- (.*?) ?\(([^)]+)\)/.exec(line) ?? [];
        return [...list.matchAll(/`([^`]+)`/g)].map(([, name = '']) => [name, licence] as const);
      });
      deepStrictEqual(listed.map(([name]) => name).toSorted(), Object.keys(names).toSorted());
      for (const [name, licence] of listed)
        strictEqual((read(`node_modules/${name}/package.json`) as Manifest).license ?? 'MIT', licence, name);
    }
    ok(service.split('\n').every((line) => !line.startsWith('- ') || / Instead: | belongs to /.test(line)));
  });

  it('lists the licences of all that the package needs', () => {
    const [, list = ''] = /have one of these: ([^;]*?)\. The last/.exec(text) ?? [];
    deepStrictEqual(new Set(list.split(/,\s+/)), allowed);
    const others = needed.flatMap(([path, { license }]) => {
      // Packages for other platforms are not installed.
      const installed = existsSync(join(packageFolder, path))
        ? (read(`${path}/package.json`) as Manifest).license
        : license;
      return [license, installed ?? ''].some((all) => all.split(' AND ').some((one) => !allowed.has(one)))
        ? [`${path}: ${license}, ${installed}`]
        : [];
    });
    deepStrictEqual(others, []);
  });
});

describe('npm run sbom', () => {
  it('prints every library that the package needs and none for development, each time the same @long', () => {
    const print = (): string =>
      execFileSync(process.execPath, [join(packageFolder, 'dist/scripts/sbom.js')], { encoding: 'utf8' });
    const text = print();
    const { components, metadata } = JSON.parse(text) as {
      components: readonly { readonly name: string; readonly version: string; readonly licenses: unknown }[];
      metadata: { readonly component: { readonly name: string; readonly version: string } };
    };
    deepStrictEqual([metadata.component.name, metadata.component.version], ['botshelf', manifest.version]);
    const listed = components.map(({ name, version }) => `${name}@${version}`);
    const names = needed.map(([path, { version }]) => `${path.replace(/.*node_modules\//, '')}@${version}`);
    deepStrictEqual(listed.toSorted(), [...new Set(names)].toSorted());
    ok(components.every(({ licenses }) => Array.isArray(licenses) && licenses.length > 0));
    strictEqual(print(), text);
  });
});
