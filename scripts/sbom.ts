import { execFileSync } from 'node:child_process';
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * Prints the libraries that the package needs, with their licences and checksums, as CycloneDX: from package-lock.json, so that
 * it is the same on every platform, and without the time and the number of the run. `npm sbom --omit dev` alone leaves out each
 * library that a tool for development needs, too, such as koa.
 */
const top = fileURLToPath(new URL('../../', import.meta.url));
const read = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(top, name), 'utf8')) as Record<string, unknown>;
const manifest = { ...read('package.json'), devDependencies: undefined, overrides: undefined };
const { packages, ...lock } = read('package-lock.json') as {
  packages: Record<string, { readonly dev?: boolean; readonly link?: boolean; devDependencies?: unknown }>;
};
const needed = Object.entries(packages).filter(([, { dev = false, link = false }]) => !dev && !link);

const temporary = mkdtempSync(join(tmpdir(), 'botshelf-sbom-'));
try {
  // npm names the package by its folder.
  const folder = join(temporary, 'botshelf');
  mkdirSync(folder);
  const root = { ...packages[''], devDependencies: undefined };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(
    join(folder, 'package-lock.json'),
    JSON.stringify({ ...lock, packages: { ...Object.fromEntries(needed), '': root } }),
  );
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
  const sbom = JSON.parse(
    execFileSync('npm', args, { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26 }),
  ) as { serialNumber?: string; metadata: { timestamp?: string } };
  delete sbom.serialNumber;
  delete sbom.metadata.timestamp;
  process.stdout.write(`${JSON.stringify(sbom, null, 2)}\n`);
} finally {
  rmSync(temporary, { recursive: true });
}
