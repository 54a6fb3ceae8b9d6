import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cloneOfPackage } from '../support/clone.ts';
import { packageFolder, readPackageFile } from '../support/package-files.ts';
import { type TestRepository, testRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { type Ran, runScript } from '../support/script.ts';
import { startTestService } from '../support/service.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { giveToNobody, isRoot } from './nobody.ts';

interface Block {
  /** The beginning of the block, such as `README.md:11`. */
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

function shellBlocks(page: string): Block[] {
  const text = readPackageFile(page);
  return [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map((match) => ({
    place: `${page}:${text.slice(0, match.index).split('\n').length}`,
    text: match[1] ?? '',
  }));
}

/** The blocks of all pages; those with the same commands are one, with all their places. */
function distinctBlocks(): Block[] {
  const places = new Map<string, string[]>();
  for (const { place, text } of pages.flatMap(shellBlocks))
    places.set(text, [...(places.get(text) ?? []), place]);
  return Array.from(places, ([text, all]) => ({ place: all.join(', '), text }));
}

/**
 * npm ci needs a registry, sudo a password and an account: here they do what is left of them. A build of what is built
 * is left out, too.
 */
const programs = {
  npm: '#!/bin/sh\ncase "$*" in ci|"run build"|"run -s build") ;; *) exec "$REAL_NPM" "$@" ;; esac\n',
  sudo: isRoot
    ? '#!/bin/sh\nshift 2; exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"\n'
    : '#!/bin/sh\nshift 2; exec "$@"\n',
};
const realNpm = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim();

/**
 * `npx` would install the checker, and `botshelf` has to be installed: here the shell has the command of the clone for
 * both. `botshelf check` ends with 1 where it has found faults, which is what it is for.
 */
const prelude = `set -e
clone=$PWD
botshelf() { "$clone/bin/botshelf.js" "$@" || { code=$?; [ "$1 $code" = "check 1" ] || return $code; }; }
npx() { while [ "$1" != botshelf ]; do shift; done; "$@"; }
`;

async function run(script: string, folder: string): Promise<Ran> {
  return await runScript(prelude + script, folder, environment());
}

function environment(): Record<string, string> {
  const bin = tempFolder();
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(bin, name), text, { mode: 0o755 });
  const path = `${bin}:${process.env['PATH']}`;
  return { PATH: path, REAL_NPM: realNpm, PORT: '0', BOTSHELF_IMAGES: 'off' };
}

describe('the documents', function () {
  this.timeout(120_000);
  let clone: TestRepository;

  before(() => {
    clone = cloneOfPackage();
  });

  afterEach('take away what a block has made', () => {
    clone.git('reset', '-q', '--hard');
    clone.git('clean', '-ffdqx', '-e', 'node_modules', '-e', 'dist');
  });

  it('name a command that says in one line what to do in a clone that is not built', async () => {
    const { code, output } = await runScript('bin/botshelf.js token 1 --revoke', clone.folder, environment());
    strictEqual(code, 2, output);
    match(output, /^botshelf is not built yet: run "npm ci && npm run build" in its folder first$/m);
  });

  it('run one file of tests in a clone that is not built, of a page too, and only the tests of a title', async () => {
    for (const [args, passing] of [
      ['test/bot/schemas.test.ts', /^  \d{2} passing/m],
      ['test/bot/id.test.ts "has no line end"', /^  1 passing/m],
      ['test/site/front/card.test.tsx', /^  \d passing/m],
      // Processes of this test load the modules, too.
      ['test/lib/log.test.ts', /^  \d passing/m],
    ] as const) {
      const { code, output } = await runScript(`npm run -s test:one ${args}`, clone.folder, environment());
      strictEqual(code, 0, output);
      match(output, passing);
    }
    const failed = await runScript(
      'npm run -s test:one test/bot/no-such.test.ts',
      clone.folder,
      environment(),
    );
    strictEqual(failed.code, 1);
    match(failed.output, /^there is no file "test\/bot\/no-such\.test\.ts": pass /);
  });

  it('name scripts of package.json only, and give options to none where npm keeps them to itself', () => {
    const { scripts } = JSON.parse(readPackageFile('package.json')) as Package;
    const wrong = [...pages, 'docs/decisions/007-git-runs-from-a-small-process.md'].flatMap((page) =>
      [...readPackageFile(page).matchAll(/npm run (?:-s |--silent )?([\w-]+)([^\n`|&]*)/g)]
        .filter(([, name = '', rest = '']) => !(name in scripts) || /^ (?!-- ).*--/.test(rest))
        .map(([text]) => `${page}: ${text}`),
    );
    deepStrictEqual(wrong, []);
  });

  describe('in a clone that is built', () => {
    before(() => cpSync(join(packageFolder, 'dist'), join(clone.folder, 'dist'), { recursive: true }));

    for (const block of distinctBlocks()) {
      it(`have commands that work when they are copied: ${block.place}`, async () => {
        const place = tempFolder();
        const shared = join(place, 'shared.git');
        if (block.text.includes('ADDRESS'))
          execFileSync('git', ['clone', '-q', '--bare', clone.folder, shared], { stdio: 'pipe' });
        if (block.text.includes('/srv/botshelf')) {
          mkdirSync(join(place, 'catalogue'));
          testRepository({ [pagePath('1')]: mainPage() }, join(place, 'catalogue'));
          giveToNobody(place);
        }
        const service = block.text.includes('localhost:8080') && !/npm start/.test(block.text);
        const running = service ? await startTestService({}, { root: clone.folder }) : undefined;
        const script = block.text
          .replaceAll('localhost:8080', running?.address.replace('http://', '') ?? '')
          .replaceAll('curl ', 'curl --silent --show-error --fail ')
          .replaceAll('ADDRESS', shared)
          .replaceAll('bin/botshelf.js ', 'botshelf ')
          .replaceAll('/srv/botshelf', place);
        const { code, output } = await run(script, clone.folder);
        strictEqual(code, 0, output);
        if (/npm start|npm run demo/.test(script)) ok(output.includes('ready at http'), output);
        await running?.stop();
      });
    }

    it('name npm run dev, which serves pages and does not take the messages of node --watch for answers of git', async () => {
      const { output } = await runScript('npm run dev', clone.folder, environment(), async (address) => {
        const page = await fetch(`${address}/bots/190519304972663312`);
        strictEqual(page.status, 200);
        match(await page.text(), /Homer/);
        match(await (await fetch(`${address}/readyz`)).text(), /"repository":\{"ready":true,"faults":\[\]/);
      });
      match(output, /ready at http/);
    });
  });
});

interface Package {
  readonly scripts: Readonly<Record<string, string>>;
}
