import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cloneOfPackage, packageFolder } from '../support/clone.ts';
import { repositoryIn, testRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { tempFolder } from '../support/temp-folder.ts';

interface Block {
  /** Where it begins, such as `README.md:11`. */
  readonly place: string;
  readonly text: string;
}

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync(join(packageFolder, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

function textOf(page: string): string {
  return readFileSync(join(packageFolder, page), 'utf8');
}

function shellBlocks(page: string): Block[] {
  const text = textOf(page);
  return [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map((match) => ({
    place: `${page}:${text.slice(0, match.index).split('\n').length}`,
    text: match[1] ?? '',
  }));
}

/** npm ci needs a registry, sudo a password and an account: here they do what is left of them. */
const programs = {
  npm: '#!/bin/sh\n[ "$1" = ci ] || PATH="$REAL_PATH" exec npm "$@"\n',
  sudo:
    process.getuid?.() === 0
      ? '#!/bin/sh\nshift 2; exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"\n'
      : '#!/bin/sh\nshift 2; exec "$@"\n',
};

/** `botshelf check` ends with 1 where it has found faults, which is what it is for. */
const prelude = `set -e
npx() { command npx "$@" || { code=$?; [ "$1 $2 $code" = "botshelf check 1" ] || return $code; }; }
`;

interface Ran {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a script in a group of its own. A service that it starts is stopped as soon as it is ready. */
async function run(script: string, folder: string): Promise<Ran> {
  const [bin, home] = [join(tempFolder(), 'bin'), tempFolder()];
  mkdirSync(bin);
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(bin, name), text, { mode: 0o755 });
  const path = process.env['PATH'] ?? '';
  const env = { PATH: `${bin}:${path}`, REAL_PATH: path, HOME: home, PORT: '0', BOTSHELF_IMAGES: 'off' };
  const child = spawn('bash', ['-c', prelude + script], {
    cwd: folder,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let stopped = false;
  const take = (piece: Buffer): void => {
    output += String(piece);
    if (stopped || !/ready at http/.test(output)) return;
    stopped = true;
    process.kill(-Number(child.pid), 'SIGTERM');
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code: stopped ? 0 : code, output };
}

function giveToNobody(folder: string): void {
  if (process.getuid?.() !== 0) return;
  for (const name of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })])
    chownSync(join(folder, name), 65534, 65534);
}

describe('the documents', function () {
  this.timeout(120_000);
  let clone: string;

  before('a clone that is built, beside a bare repository and a clone of a catalogue', () => {
    clone = cloneOfPackage();
    execFileSync('npm', ['run', '-s', 'build'], { cwd: clone, stdio: 'ignore' });
  });

  afterEach('take away what a block has made', () => {
    repositoryIn(clone).git('reset', '-q', '--hard');
    repositoryIn(clone).git('clean', '-ffdqx', '-e', 'node_modules', '-e', 'dist');
  });

  for (const block of pages.flatMap(shellBlocks)) {
    it(`have commands that work when they are copied: ${block.place}`, async () => {
      const place = tempFolder();
      const shared = join(place, 'shared.git');
      execFileSync('git', ['clone', '-q', '--bare', clone, shared], { stdio: 'pipe' });
      if (block.text.includes('/srv/botshelf')) {
        mkdirSync(join(place, 'catalogue'));
        testRepository({ [pagePath('1')]: mainPage() }, join(place, 'catalogue'));
        giveToNobody(place);
      }
      const service = block.text.includes('localhost:8080') && !/npm start/.test(block.text);
      const running = service ? await startServiceProcess(clone) : undefined;
      const script = block.text
        .replaceAll('localhost:8080', running?.address.replace('http://', '') ?? '')
        .replaceAll('curl ', 'curl --silent --show-error --fail ')
        .replaceAll('ADDRESS', shared)
        .replaceAll('/srv/botshelf', place);
      const { code, output } = await run(script, clone);
      strictEqual(code, 0, output);
      if (/npm start|npm run demo/.test(script)) ok(output.includes('ready at http'), output);
      await running?.end('SIGTERM');
    });
  }

  it('name scripts of package.json only, and give options to none where npm keeps them to itself', () => {
    const { scripts } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as Package;
    const wrong = [...pages, 'docs/decisions/007-git-runs-from-a-small-process.md'].flatMap((page) =>
      [...textOf(page).matchAll(/npm run (?:-s |--silent )?([\w-]+)([^\n`|&]*)/g)]
        .filter(([, name = '', rest = '']) => !(name in scripts) || /^ (?!-- )[^#]*--/.test(rest))
        .map(([text]) => `${page}: ${text}`),
    );
    deepStrictEqual(wrong, []);
  });
});

interface Package {
  readonly scripts: Readonly<Record<string, string>>;
}

describe('what botshelf init prints', function () {
  this.timeout(60_000);

  it('has commands that work when they are copied', async () => {
    const cwd = tempFolder();
    const launcher = join(packageFolder, 'bin/botshelf.js');
    const said = execFileSync(launcher, ['init', "it's mine", '--samples'], { cwd, encoding: 'utf8' });
    for (const label of ['see it', 'add a bot']) {
      const command = said.split('\n').find((line) => line.trim().startsWith(label)) ?? '';
      const { code, output } = await run(command.trim().slice(label.length), cwd);
      strictEqual(code, 0, output);
    }
    ok(readdirSync(join(cwd, "it's mine/bots/678")).includes('123456789012345678.en.md'));
  });
});

describe('npx botshelf in a clone that is not built', () => {
  it('says what to do, in one line', async () => {
    const { code, output } = await run('npx botshelf token 1 --revoke', cloneOfPackage());
    strictEqual(code, 2, output);
    match(output, /^botshelf is not built yet: run "npm ci && npm run build" in its folder first$/m);
  });
});
