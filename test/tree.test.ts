import { deepStrictEqual, ok } from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { packageFolder, readPackageFile } from './support/package-files.ts';

const src = join(packageFolder, 'src');
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));

const architecture = readPackageFile('ARCHITECTURE.md');
/** The order of the rooms, as ARCHITECTURE.md has it, with src/ itself as the last. */
const rooms = orderIn(architecture);

function textOf(file: string): string {
  return readPackageFile(join('src', file));
}

function expectNone(found: readonly string[]): void {
  deepStrictEqual(found, []);
}

/** The first groups of a pattern in a text. */
function namesIn(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, name = '']) => name);
}

const typeDeclaration = /^(?:export )?(?:interface|type|(?:abstract )?class) (\w+)/gm;

/** A file of the tree → the files that it imports, types too. */
const imports = new Map(files.map((file) => [file, importsOf(file)]));

describe('the tree of src/', () => {
  it('has main.ts only beside the rooms, and every room in the order of ARCHITECTURE.md', () => {
    deepStrictEqual([...new Set(files.map(roomOf))].toSorted(), rooms.toSorted());
  });

  it('imports in one direction, from a room to those before it', () => {
    const placeOf = (file: string): number => rooms.indexOf(roomOf(file));
    const against = [...imports].flatMap(([file, targets]) =>
      targets
        .filter((target) => placeOf(target) > placeOf(file))
        .map((target) => `${file} imports ${target}`),
    );
    expectNone(against);
  });

  it('imports from other rooms only the files that ARCHITECTURE.md names as their doors, and those are all needed', () => {
    const used = new Set(
      [...imports].flatMap(([file, targets]) => targets.filter((target) => roomOf(target) !== roomOf(file))),
    );
    const ofRooms = [...used].filter((file) => /\.tsx?$/.test(file) && !/^(?:lib|bot|\.\.)\//.test(file));
    deepStrictEqual(ofRooms.toSorted(), doorsIn(architecture).toSorted());
  });

  it('declares no type name twice', () => {
    const names = files.flatMap((file) => namesIn(textOf(file), typeDeclaration));
    expectNone(names.filter((name, i) => names.indexOf(name) !== i));
  });

  it('names the classes of errors as such', () => {
    const errors = /^export class (\w+)(?:<\w+>)? extends \w*Error\b/gm;
    const names = files.flatMap((file) => namesIn(textOf(file), errors));
    expectNone(names.filter((name) => !name.endsWith('Error')));
  });

  it('exports no function, class or value that nothing but tests uses', () => {
    const benches = readdirSync(join(packageFolder, 'bench')).filter((name) => name.endsWith('.ts'));
    const texts = [...files.map(textOf), ...benches.map((name) => readPackageFile(join('bench', name)))];
    const uses = new Map<string, number>();
    for (const text of texts)
      for (const [word] of text.matchAll(/\w+/g)) uses.set(word, (uses.get(word) ?? 0) + 1);
    const exports = /^export (?:async )?(?:function\*?|const|class) (\w+)/gm;
    const exported = files.flatMap((file) => namesIn(textOf(file), exports));
    ok(exported.length > 500);
    expectNone(exported.filter((name) => uses.get(name) === 1));
  });

  it('has no cycle between folders', () => {
    expectNone(cycleIn(folderImports()));
  });

  it('has no cycle between files', () => {
    expectNone(cycleIn(new Map([...imports].map(([file, targets]) => [file, new Set(targets)]))));
  });
});

describe('the tree of test/', () => {
  it('has its units in folders of the names that src/ has', () => {
    const tests = readdirSync(join(packageFolder, 'test'), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.test\.tsx?$/.test(name) && !name.includes('node_modules'))
      .map(dirname)
      .filter((folder) => !/^(?:scenarios|support|bench|fuzz|process|browser|verify)(?:\/|$)/.test(folder));
    expectNone([...new Set(tests)].filter((folder) => !existsSync(join(src, folder))));
  });
});

describe('the documents about the tree', () => {
  const decisions = readdirSync(join(packageFolder, 'docs/decisions')).map(
    (name) => `docs/decisions/${name}`,
  );

  const docs = ['developing', 'dependencies', 'owners'].map((name) => `docs/${name}.md`);
  for (const document of ['ARCHITECTURE.md', 'CONTRIBUTING.md', ...docs, ...decisions])
    it(`name no file and no folder that does not exist: ${document}`, () => {
      expectNone(
        pathsIn(document).filter(
          (path) => !existsSync(join(src, path)) && !existsSync(join(packageFolder, path)),
        ),
      );
    });

  it('begin with a picture of all rooms but the two that all others use', () => {
    const [, picture = ''] = /^# Architecture\n\n```mermaid\n([^]*?)```/.exec(architecture) ?? [];
    const missing = rooms.filter((room) => !new RegExp(`\\b${room}\\b`).test(picture));
    deepStrictEqual(missing, ['lib', 'bot', 'main.ts']);
  });

  it('have every decision in the index by room', () => {
    const index = readPackageFile('docs/developing.md');
    const numbered = decisions.filter((path) => /\/\d/.test(path));
    expectNone(numbered.filter((path) => !index.includes(path.replace('docs/', ']('))));
  });

  it('have every folder of src/ on the map', () => {
    const named = new Set(pathsIn('ARCHITECTURE.md'));
    const folders = new Set(files.map((file) => `${dirname(file)}/`).filter((folder) => folder !== './'));
    expectNone([...folders].filter((folder) => !named.has(folder)));
  });
});

describe('the documents', () => {
  const folders = ['.github', 'bench', 'catalogue-template', 'clients', 'docs', 'scripts', 'src'].flatMap(
    (folder) =>
      readdirSync(join(packageFolder, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
        join(folder, name),
      ),
  );
  const documents = [...readdirSync(packageFolder), ...folders].filter((path) => path.endsWith('.md'));

  it('have no table that is wider than 120 columns, so that they can be read in a terminal, but for measurements', () => {
    ok(documents.length > 25);
    const wide = documents
      .filter((path) => !['docs/benchmarks.md', 'docs/scale.md'].includes(path))
      .flatMap((path) =>
        readPackageFile(path)
          .split('\n')
          .flatMap((line, i) => (/^\s*\|/.test(line) && line.length > 120 ? [`${path}:${i + 1}`] : [])),
      );
    expectNone(wide);
  });

  it('begin with a README of at most 80 lines, which has the commands of the service and of the tests', () => {
    const lines = readPackageFile('README.md').split('\n');
    ok(lines.length <= 81);
    for (const command of ['npm ci && npm run demo', 'npm ci && npm test']) ok(lines.includes(command));
  });

  it('have nobody install a package by its bare name, nor do code and pipelines: no registry has ours yet', () => {
    const bare =
      /(?:npm (?:i|install)|pip install)(?: \S+)*? ["']?(?:botshelf|@botshelf\/client)["'@=\s]|npx (?:--yes|-y) ["']?botshelf|botshelf@\d/;
    const texts = [...documents, ...folders].filter((path) => /\.(?:md|ya?ml|tsx?|json|py)$/.test(path));
    expectNone(
      texts.filter((path) => {
        const text = readPackageFile(path);
        // Where nothing is installed, `npx botshelf` asks npm for that name, too.
        return bare.test(text) || /npx botshelf/.test(text);
      }),
    );
  });

  it('have no comment in a shell block, because an interactive zsh takes it for arguments', () => {
    const blocks = documents.flatMap((path) =>
      [...readPackageFile(path).matchAll(/^( *)```(\w*)\n([^]*?)^\1```$/gm)].map(
        ([, , language = '', text = '']) => ({
          path,
          language,
          text,
        }),
      ),
    );
    const shell = blocks.filter(({ language, text }) =>
      language === ''
        ? /^\s*(?:\$ )?(?:\w+=\S* )?(?:botshelf|cd|curl|docker|git|node|np[mx]|sudo)\b/.test(text)
        : /^(?:sh|bash|zsh|shell|console)$/.test(language),
    );
    ok(shell.length > 40);
    expectNone(shell.filter(({ text }) => /(?:^|\s)#/.test(text)).map(({ path }) => path));
  });
});

describe('the libraries', () => {
  const owners = new Map(
    [
      ...readPackageFile('docs/dependencies.md')
        .replaceAll(/\n {2}/g, ' ')
        .matchAll(/^- `([\w.@/-]+)` \([^)]*\) in ((?:`[^`]+`(?:, )?)+):/gm),
    ].map(([, name = '', paths = '']) => [name, paths.replaceAll('`', '').split(', ')] as const),
  );

  it('are all in docs/dependencies.md', () => {
    const { dependencies } = JSON.parse(readPackageFile('package.json')) as {
      readonly dependencies: Readonly<Record<string, string>>;
    };
    expectNone(Object.keys(dependencies).filter((name) => !owners.has(name)));
  });

  it('are imported by the files that docs/dependencies.md names, and by no other', () => {
    const imported = /^(?:(?:import|export|\} from) | +.*\bimport\().*?'((?:@[\w-]+\/)?[\w.-]+)[^']*'\)?;$/gm;
    const others = files.flatMap((file) =>
      namesIn(textOf(file), imported)
        .filter((name) => owners.get(name)?.every((path) => file !== path && !file.startsWith(path)))
        .map((name) => `${file} imports ${name}`),
    );
    expectNone(others);
  });
});

/** The files and folders that a document names in `code`; not those that only a running service makes. */
function pathsIn(document: string): string[] {
  return namesIn(readPackageFile(document), /`([^`\n]+)`/g)
    .filter((text) => /^[\w.-]+(?:\/[\w.-]+)*(?:\/|\.(?:tsx?|js|md))$/.test(text))
    .filter((path) => !/^(?:var|botshelf\.lock|\.forgejo)\/|^(?:highlight|ipaddr)\.js$/.test(path));
}

function importsOf(file: string): string[] {
  const relative = namesIn(textOf(file), /(?:\bfrom|\bimport|\bimport\() ?'(\.[^']+)'/g);
  return relative.map((path) => normalize(join(dirname(file), path)));
}

function orderIn(architecture: string): string[] {
  return namesIn(architecture, /^- `(\w+)\/`: /gm).concat('main.ts');
}

/** The files in the table of doors, which has their names by folder. */
function doorsIn(architecture: string): string[] {
  return [...architecture.matchAll(/^\| `([\w/]+\/)` +\| (.*?) *\|$/gm)].flatMap(
    ([, folder = '', names = '']) =>
      names
        .split(', ')
        .map((name) => folder + name)
        .map((path) => files.find((file) => file.replace(/\.tsx?$/, '') === path) ?? path),
  );
}

/** The folder at the top of src/, or the file where it is in none. */
function roomOf(file: string): string {
  return file.replace(/\/.*/, '');
}

/** A folder → those that it imports from. */
function folderImports(): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>();
  for (const [file, targets] of imports) {
    const from = dirname(file);
    const to = graph.get(from) ?? new Set();
    for (const target of targets) if (dirname(target) !== from) to.add(dirname(target));
    graph.set(from, to);
  }
  return graph;
}

/** The folders of one cycle, or an empty list: repeatedly removes the folders that import no other. */
function cycleIn(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  let left = new Map(graph);
  for (;;) {
    const next = new Map([...left].filter(([, to]) => [...to].some((folder) => left.has(folder))));
    if (next.size === left.size) return [...next.keys()];
    left = next;
  }
}
