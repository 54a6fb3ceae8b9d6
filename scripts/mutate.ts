import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

/*
 * Mutation testing: Stryker changes src/ in one small way after another, and names the changes that no test notices. The
 * arguments are folders and files of src/, such as `tokens git/branch/committer.ts`; without any it is those below.
 * `--share 8` changes an eighth of the lines only: 20 lines of every 160, others with each `--offset`.
 * Results are in reports/mutation/: the next run is of what changed in src/ since, and of what was not noticed.
 */
const { values, positionals: named } = parseArgs({
  options: { share: { type: 'string', default: '1' }, offset: { type: 'string', default: '0' } },
  allowPositionals: true,
});
const [share, offset] = [Number(values.share), Number(values.offset)];
const places = [
  'tokens',
  'counts',
  'git/commit-files.ts',
  'git/branch/committer.ts',
  'git/branch/git-index.ts',
  'git/branch/instance-lock.ts',
  'sync',
  'check',
  'proposals',
  'login',
];

/** Installed when it runs: its mocha runner cannot load mocha 12 yet, so it brings its own. */
const packages = ['@stryker-mutator/core@9.6.1', '@stryker-mutator/mocha-runner@9.6.1', 'mocha@11.8.0'];

for (const place of named.length > 0 ? named : places) {
  const sample = share > 1 ? `-${offset}-of-${share}` : '';
  const name = `reports/mutation/${place.replaceAll('/', '-')}${sample}`;
  mkdirSync('reports/mutation', { recursive: true });
  forgetSurvivors(`${name}.incremental.json`);
  writeFileSync(`${name}.config.json`, JSON.stringify(configure(place, name), null, 2));
  const stryker = ['npx', '--yes', ...packages.map((it) => `--package=${it}`), 'stryker', 'run'];
  const temporary = mkdtempSync(join(tmpdir(), 'botshelf-mutants-'));
  const env = { ...process.env, TMPDIR: temporary };
  const args = ['-n', '15', ...stryker, `${name}.config.json`];
  const { status } = spawnSync('nice', args, { stdio: 'inherit', env });
  rmSync(temporary, { recursive: true, force: true, maxRetries: 3 });
  if (status !== 0) process.exitCode = 1;
}

function configure(place: string, name: string): object {
  return {
    mutate: listSources(place).flatMap(pickLines),
    // Types are checked by `npm run build`: a mutant may be of any type. Services start with the clients. Nor does Stryker have to read tsconfig.json.
    buildCommand: 'npm run -s build:mutants',
    disableTypeChecks: false,
    tsconfigFile: 'none',
    testRunner: 'mocha',
    mochaOptions: { spec: listTests(place), require: ['./dist/test/support/cleanup.js'] },
    coverageAnalysis: 'perTest',
    // What a killed mutant leaves running is not to fail the tests of many others.
    maxTestRunnerReuse: 20,
    concurrency: 2,
    // A mutant counts as killed when its tests never end, but not when the machine is busy.
    timeoutMS: 30_000,
    timeoutFactor: 1.5,
    dryRunTimeoutMinutes: 20,
    plugins: ['@stryker-mutator/*', './dist/scripts/mutation-ignorer.js'],
    ignorers: ['wording'],
    ignorePatterns: ['/dist', '/reports', '/var', '/catalogue', '/coverage'],
    tempDirName: 'reports/mutation/sandbox',
    incremental: true,
    incrementalFile: `${name}.incremental.json`,
    reporters: ['clear-text', 'json', 'html', 'progress-append-only'],
    jsonReporter: { fileName: `${name}.json` },
    htmlReporter: { fileName: `${name}.html` },
    clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
    allowConsoleColors: false,
  };
}

function listSources(place: string): string[] {
  if (/\.tsx?$/.test(place)) return [`src/${place}`];
  return readdirSync(`src/${place}`, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => `src/${place}/${name}`);
}

/** Returns a file, or those of its lines that are in the sample. */
function pickLines(file: string, index: number): string[] {
  if (share === 1) return [file];
  const lines = readFileSync(file, 'utf8').split('\n').length;
  const parts = Array.from({ length: Math.ceil(lines / 20) }, (_, part) => part);
  return parts
    .filter((part) => (part + index + offset) % share === 0)
    .map((part) => `${file}:${part * 20 + 1}-${Math.min(lines, part * 20 + 20)}`);
}

/** Makes the next run try the survivors again, as Stryker does not see that a test of the same name has changed. */
function forgetSurvivors(file: string): void {
  if (!existsSync(file)) return;
  const report = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly files: Record<string, { mutants: { readonly status: string }[] }>;
  };
  for (const source of Object.values(report.files))
    source.mutants = source.mutants.filter(({ status }) => status === 'Killed');
  writeFileSync(file, JSON.stringify(report));
}

/**
 * The tests of a place and of the command of its room, others of its room that load it, and others that import it. Those that start
 * services are last, as they are slow, and only where they are of the place, as the changed line runs in another process.
 */
function listTests(place: string): string[] {
  const source = `dist/src/${place.replace(/\.tsx?$/, '.js')}`;
  const twin = `dist/test/${place.replace(/\.tsx?$/, '.test.js')}`;
  const [room = ''] = place.split('/');
  const isIn = (file: string, path: string): boolean => file === path || file.startsWith(`${path}/`);
  const services = /\/support\/(?:git-host|login-site|replica|service|service-process)\.js$/;
  return readdirSync('dist/test', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.js') && !/^(?:scenarios|process|browser|verify)\//.test(name))
    .map((name) => {
      const file = `dist/test/${name}`;
      const isTwin = isIn(file, twin);
      const isOfCommand = name.startsWith(`commands/${room}`);
      const isOfRoom = name.startsWith(`${room}/`);
      const loaded = isOfRoom ? [...listLoaded(file)] : listImports(file);
      const isSlow = listImports(file).some((path) => services.test(path));
      return { file, isTwin, isOfCommand, isSlow, loads: loaded.some((path) => isIn(path, source)) };
    })
    .filter(({ isTwin, isOfCommand, isSlow, loads }) => isTwin || isOfCommand || (loads && !isSlow))
    .toSorted((a, b) => Number(a.isSlow) - Number(b.isSlow) || Number(b.isTwin) - Number(a.isTwin))
    .map(({ file }) => file);
}

/** A compiled file and all that it loads. */
function listLoaded(file: string, known = new Set<string>()): Set<string> {
  if (known.has(file)) return known;
  known.add(file);
  for (const path of listImports(file)) listLoaded(path, known);
  return known;
}

function listImports(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/from '(\.[^']+\.js)'/g)].map(([, path = '']) => join(dirname(file), path));
}
