import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { cloneOfPackage } from '../support/clone.ts';
import type { TestRepository } from '../support/repository.ts';
import { packageFolder, readPackageFile } from '../support/package-files.ts';
import { testRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { runScript } from '../support/script.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { giveToNobody, isRoot, nobody } from './nobody.ts';

describe('the package, packed and installed in an empty folder', function () {
  // A build, which takes long on a busy machine.
  this.timeout(600_000);
  /** The folder that the package is installed in. */
  let home: string;
  /** The catalogue that is created there. */
  const mine = "it's mine";
  const installed = (): string => join(home, 'node_modules/botshelf');
  /** The program that npx would run; npx itself takes longer than most commands. */
  const command = (): string => join(home, 'node_modules/.bin/botshelf');

  /** The clone that is packed, and the package. */
  let clone: TestRepository;
  let tarball: string;

  before('pack and install it', () => {
    clone = cloneOfPackage();
    // The subject is the output of a build; types are checked in the tree itself.
    const compiler = join(clone.folder, 'tsconfig.json');
    writeFileSync(compiler, readFileSync(compiler, 'utf8').replace('"strict": true,', '$& "noCheck": true,'));
    clone.git('commit', '-qam', 'Build without a check of the types');
    home = tempFolder();
    chmodSync(home, 0o755);
    tarball = pack(clone.folder, home);
    match(basename(tarball), /^botshelf-\d+\.\d+\.\d+\.tgz$/);
    install();
  });

  /** Puts the package and the libraries that it says it needs into the folder, as npm does, without a registry. */
  function install(): void {
    const modules = join(home, 'node_modules');
    mkdirSync(join(modules, '.bin'), { recursive: true });
    execFileSync('tar', ['-xzf', tarball], { cwd: modules });
    renameSync(join(modules, 'package'), installed());
    const { bin } = JSON.parse(readFileSync(join(installed(), 'package.json'), 'utf8')) as {
      bin: { botshelf: string };
    };
    symlinkSync(join('../botshelf', bin.botshelf), join(modules, '.bin/botshelf'));
    chmodSync(join(installed(), bin.botshelf), 0o755);
    for (const [path, { dev = false }] of Object.entries(lockedPackages()))
      if (!dev && /^node_modules\/(?!.*\/node_modules\/)/.test(path) && existsSync(join(packageFolder, path)))
        cpSync(join(packageFolder, path), join(home, path), { recursive: true });
  }

  it('makes a catalogue with the commands of the first minute, and what they print works', async () => {
    const env = { PATH: process.env['PATH'] ?? '', PORT: '0', BOTSHELF_IMAGES: 'off' };
    const first = spawnSync(command(), ['serve'], { cwd: home, encoding: 'utf8' });
    strictEqual(first.status, 2);
    match(first.stderr, /has no folder bots\/: make a catalogue with “botshelf init DIR”/);
    const said = execFileSync(command(), ['init', mine], { cwd: home, encoding: 'utf8' });
    for (const label of ['see it', 'add a bot']) {
      const line = said.split('\n').find((line) => line.trim().startsWith(label)) ?? '';
      const { code, output } = await runScript(line.trim().slice(label.length), home, env);
      strictEqual(code, 0, output);
    }
    deepStrictEqual(readdirSync(join(home, mine, 'bots/678')), ['123456789012345678.en.md']);
    rmSync(join(home, mine, 'bots/678'), { recursive: true });
    let served: unknown;
    const commands = `${command()} check && npx botshelf serve`;
    const { code, output } = await runScript(commands, join(home, mine), env, async (address) => {
      served = [(await fetch(address)).status, await (await fetch(`${address}/api/v2/bots`)).json()];
    });
    strictEqual(code, 0, output);
    deepStrictEqual(served, [200, []]);
    ok(existsSync(join(home, mine, 'var')));
  });

  it('prints its version, which is in the changelog', () => {
    const { version } = JSON.parse(readFileSync(join(installed(), 'package.json'), 'utf8')) as {
      version: string;
    };
    strictEqual(execFileSync(command(), ['--version'], { encoding: 'utf8' }), `${version}\n`);
    match(readFileSync(join(installed(), 'CHANGELOG.md'), 'utf8'), new RegExp(`^## ${version}$`, 'm'));
  });

  it('has no script that npm runs, or warns of, at an install, and packing it leaves the clone as it was', () => {
    const scriptsIn = (folder: string): string[] => {
      const text = readFileSync(join(folder, 'package.json'), 'utf8');
      return Object.keys((JSON.parse(text) as { scripts: object }).scripts);
    };
    const atInstall = /^(?:pre|post)?(?:install|prepare)$/;
    strictEqual(
      scriptsIn(installed())
        .filter((name) => atInstall.test(name))
        .join(),
      '',
    );
    // A Git address is built with it.
    ok(scriptsIn(clone.folder).includes('prepare'));
    strictEqual(clone.status(), '');
  });

  it('has the files of the container, and can be packed again as they do', () => {
    for (const name of ['Containerfile', 'compose.yaml']) ok(existsSync(join(installed(), name)), name);
    const again = tempFolder();
    execFileSync('tar', ['-xzf', pack(installed(), again, '--ignore-scripts')], { cwd: again });
    strictEqual(spawnSync('diff', ['-r', join(again, 'package'), installed()]).status, 0);
  });

  it('has the same bytes for the same commit, packed in another folder, at another time and with another umask @long', () => {
    const other = join(tempFolder(), 'other');
    execFileSync('sh', ['-c', 'umask 077 && git clone -q "$1" "$2"', 'sh', clone.folder, other]);
    symlinkSync(join(packageFolder, 'node_modules'), join(other, 'node_modules'));
    utimesSync(join(other, 'README.md'), 0, 0);
    const umask = process.umask(0o077);
    try {
      deepStrictEqual(readFileSync(pack(other, tempFolder())), readFileSync(tarball));
    } finally {
      process.umask(umask);
    }
  });

  it('has files of these kinds only, and a size that nobody notices', () => {
    const list = execFileSync('tar', ['-tvzf', tarball], { encoding: 'utf8' }).trim().split('\n');
    const files = list.map((line) => /^(\S+) \S+ +(\d+) .* package\/(.*)$/.exec(line) ?? []);
    const kinds =
      /^(?:\.github\/.+\.(?:md|yml|json)|\.github\/CODEOWNERS|bin\/(?:botshelf|check-node)\.js|dist\/commit|dist\/packages\/botshelf-[\w.-]+\.(?:tgz|whl)|dist\/src\/.+\.js|assets\/.+\.(?:css|js|svg|png|ico|json|md|webp|txt|woff2|ttf)|assets\/fonts\/LICENSE|locales\/[\w-]+\.json|schemas\/(?:[\w-]+\.schema|openapi)\.json|bots\/\d{3}\/\d+\.[\w-]+\.md|catalogue-template\/.+|docs\/.+\.(?:md|yml|json|png|service|timer)|clients\/(?:python|typescript)\/README\.md|[A-Z]+\.md|LICENSE|Containerfile|compose\.yaml|package\.json)$/;
    strictEqual(files.filter(([, , , name = '']) => !kinds.test(name)).join(), '');
    const programs = files.filter(([, mode]) => mode === '-rwxr-xr-x').map(([, , , name]) => name);
    deepStrictEqual(programs, ['bin/botshelf.js']);
    ok(files.every(([, mode = '']) => /^-rw(?:xr-xr-x|-r--r--)$/.test(mode)));
    const bytes = files.reduce((sum, [, , size]) => sum + Number(size), 0);
    ok(bytes > 2_000_000 && bytes < 5_000_000, `${bytes} bytes`);
    ok(statSync(tarball).size < 1_900_000);
  });

  it('has every file that its documents link to, and no source or test', () => {
    const files = readdirSync(installed(), { recursive: true, encoding: 'utf8' });
    // The template's documents are complete once init has put them together.
    deepStrictEqual(brokenLinks(installed(), 'catalogue-template/'), []);
    deepStrictEqual(brokenLinks(join(home, mine)), []);
    const own = /\.(?:ts|tsx|map)$|^(?:test|bench|src)(?:\/|$)/;
    strictEqual(files.filter((file) => own.test(file)).join(), '');
  });

  it('runs as a user without a home, with nothing writable but the catalogue and var, whatever takes its place', async () => {
    const root = testRepository({ [pagePath('7')]: mainPage() }).folder;
    const folder = join(root, 'var');
    mkdirSync(folder);
    chmodSync(root, 0o755);
    giveToNobody(root);
    const current = join(home, 'current');
    symlinkSync(installed(), current);
    const serve = `env -u HOME ${process.execPath} ${current}/bin/botshelf.js serve`;
    // Other users than root may neither mount nor change the user: the service then runs as they are.
    const isolated = isRoot
      ? `mount --bind ${root} ${root} && mount -o remount,bind,ro / && exec setpriv --reuid ${nobody} --regid ${nobody} --clear-groups --no-new-privs ${serve}`
      : `exec ${serve}`;
    const env = { BOTSHELF_VAR: folder, BOTSHELF_IMAGES: 'on', TMPDIR: folder };
    const shell = ['sh', '-c', isolated] as const;
    const command = isRoot ? (['unshare', '--mount', ...shell] as const) : shell;
    const service = await startServiceProcess(root, env, command);
    strictEqual((await fetch(`${service.address}/bots/7`)).status, 200);
    // As an upgrade does before the restart; files that nobody has requested yet are still those of this release.
    rmSync(current);
    symlinkSync(tempFolder(), current);
    for (const path of ['/bots/7?locale=ja', '/docs', '/?q=homer', '/api/openapi.json'])
      strictEqual((await fetch(service.address + path)).status, 200, path);
  });
});

describe('the libraries', () => {
  it('run no program when they are installed', () => {
    const own = Object.entries(lockedPackages()).filter(([, { hasInstallScript }]) => hasInstallScript);
    deepStrictEqual(own, []);
  });
});

function lockedPackages(): Readonly<
  Record<string, { readonly dev?: boolean; readonly hasInstallScript?: boolean }>
> {
  const lock = JSON.parse(readPackageFile('package-lock.json')) as {
    packages: ReturnType<typeof lockedPackages>;
  };
  return lock.packages;
}

/** Packs a folder into another one, which is empty. Returns the file. */
function pack(folder: string, destination: string, ...args: readonly string[]): string {
  const all = ['pack', '--silent', '--pack-destination', destination, ...args];
  execFileSync('npm', all, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  const [name = ''] = readdirSync(destination);
  return join(destination, name);
}

/** Returns the relative links of the documents below a folder that lead nowhere, with the file of each. */
function brokenLinks(folder: string, except?: string): string[][] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md') && !file.startsWith('bots/'))
    .filter((file) => except === undefined || !file.startsWith(except))
    .flatMap((file) => linksOf(join(folder, file)).map((link) => [file, link]))
    .filter(([file = '', link = '']) => !existsSync(join(folder, dirname(file), link)));
}

function linksOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/\]\(([^)#:\s]+)(?:#[^)]*)?\)/g)].map(([, link = '']) => link);
}
