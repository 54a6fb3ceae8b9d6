import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { type Socket } from 'node:net';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { testRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { packageFolder, readPackageFile } from '../support/package-files.ts';
import { openSocket, statusAfter } from '../support/raw-request.ts';

/** An item of `docs/bounds.md`: its figures, in the order of the places in `src/` that have them, and its tests. */
interface Item {
  readonly name: string;
  readonly figures: readonly string[];
  readonly places: readonly string[];
  readonly tests: readonly string[];
}

/** The places and tests of each item, in the order of the document. */
const listed = readEntries('bounds');

const items = [...readPackageFile('docs/bounds.md').matchAll(/^- (.+?):(.+(?:\n {2}.+)*)$/gm)].map(
  ([, name = '', text = ''], i): Item => {
    const [, ...spans] = listed[i] ?? [];
    return {
      name,
      figures: [...text.matchAll(/\*\*(.+?)\*\*/g)].map(([, figure = '']) => figure),
      places: spans.filter((span) => !span.includes(' › ')),
      tests: spans.filter((span) => span.includes(' › ')),
    };
  },
);

const number = String.raw`\d[\d_]*(?: \*{1,2} \d[\d_]*)*`;

/** The names of limits in src/, by the rule of docs/developing.md, and the constructors that take one. */
const limits = [
  new RegExp(
    String.raw`(?<![\w.])(max(?:[A-Z]\w*)?|\w*[lL]imit|\w*Timeout|timeoutMs)(?:: number)? ?[=:] ?(?:${number})(?=[;,\s})])`,
    'g',
  ),
  new RegExp(
    String.raw`\bnew ((?:SerialQueue|FairQueue|LRUCache|CurrentCache)(?:<[^(]*>)?)\(\s*(?:${number})`,
    'g',
  ),
  new RegExp(String.raw`\bnew RateLimit\(('[\w-]+'), (?:${number})`, 'g'),
];

/** Limits that clients, files and remotes do not reach, by why not. */
const others = readEntries('other-limits').flatMap(([, ...places]) => places);

describe('the bounds of docs/bounds.md', () => {
  it('are those of test/fixtures/bounds.txt', () => {
    deepStrictEqual(
      items.map(({ name }) => name),
      listed.map(([name]) => name),
    );
  });

  it('have the figures of the code', () => {
    const wrong = items.flatMap(({ name: item, figures, places }) =>
      figures.length === places.length
        ? places.flatMap((place, i) => {
            const [file = '', ...name] = place.split(' ');
            const value = findValue(file, name.join(' '));
            const says = toNumber(figures[i] ?? '', name.join(' '));
            return value === says ? [] : [`${item}: says ${figures[i]}, but ${place} is ${value}`];
          })
        : [`${item}: has ${figures.length} figures in bold and ${places.length} places in src/`],
    );
    deepStrictEqual(wrong, []);
  });

  it('name tests that there are', () => {
    const missing = items.flatMap(({ name: item, tests }) =>
      tests.length === 0
        ? [`${item}: names no test`]
        : tests.filter((test) => {
            const [file = '', name = ''] = test.split(' › ');
            return (
              !existsSync(join(packageFolder, 'test', file)) ||
              !readPackageFile(`test/${file}`).includes(name)
            );
          }),
    );
    deepStrictEqual(missing, []);
  });

  it('are all that src/ has', () => {
    const named = new Set([...items.flatMap(({ places }) => places), ...others]);
    const files = readdirSync(join(packageFolder, 'src'), { recursive: true, encoding: 'utf8' }).filter(
      (name) => /\.tsx?$/.test(name),
    );
    const found = files.flatMap((file) => {
      const text = readPackageFile(`src/${file}`);
      return limits.flatMap((limit) => [...text.matchAll(limit)].map(([, name]) => `${file} ${name}`));
    });
    ok(found.length > 200);
    deepStrictEqual([...new Set(found)].filter((place) => !named.has(place)).toSorted(), []);
    deepStrictEqual(
      others.filter((place) => !found.includes(place)),
      [],
    );
  });
});

describe('a service at its bounds', () => {
  let service: TestService;
  const longWord = 'kalomiratesopenalinguworzushetrobigofinwax'.slice(0, 40);

  before(async () => {
    const bots = Array.from({ length: 51 }, (_, i) => {
      const description = `${i === 0 ? 'tenvu' : ''} ${i === 1 ? longWord : ''} ${i === 2 ? `${longWord}y` : ''} Answers.`;
      const code = 'const x = 1; //'.padEnd(9999 + Number(i === 3), 'x');
      const page = i === 0 || i === 3 ? `\`\`\`js\n${code}\n\`\`\`\n` : '';
      return [
        pagePath(String(1000 + i)),
        mainPage({ name: `Bot ${i}`, description: description.trim() }, page),
      ];
    });
    const faulty = Array.from({ length: 1001 }, (_, i) => [pagePath(String(10_000 + i)), 'x']);
    const root = testRepository(Object.fromEntries(bots)).folder;
    service = await startTestService(Object.fromEntries(faulty), {
      root,
      env: { BOTSHELF_TRUST_PROXY: 'on' },
    });
    service.allowLog(/file/);
  });

  it('takes 2,000 characters of Accept and Accept-Encoding', async () => {
    for (const name of ['Accept', 'Accept-Encoding'])
      for (const [length, status] of [
        [2000, 200],
        [2001, 400],
      ] as const) {
        const headers = { Accept: '*/*', [name]: '*/*,'.padEnd(length, 'x') };
        strictEqual((await fetch(`${service.address}/api/v2/bots/1000`, { headers })).status, status);
      }
  });

  it('takes forms of 256 KiB and reports of 16 KiB', async () => {
    for (const [path, size] of [
      ['/add', 256 * 1024],
      ['/bots/1000/report', 16 * 1024],
    ] as const) {
      const field = 'a'.repeat(40_000);
      const body = `a=&b=${field}&c=${field}&d=${field}&e=${field}&f=${field}&g=${field}&h=`.slice(
        0,
        size - 9,
      );
      deepStrictEqual(
        [
          (await send(path, `${body}&x=`.padEnd(size, 'x'))).status,
          (await send(path, `${body}&x=`.padEnd(size + 1, 'x'))).status,
        ],
        [path === '/add' ? 200 : 400, 413],
      );
    }
  });

  it('takes the first hundred words of a list', async () => {
    const ids = Array.from({ length: 101 }, (_, i) => 70_001 + i);
    const { text } = await send('/add', `name=x&authors=${ids.join('+')}`);
    ok(text.includes('&quot;70100&quot;') && !text.includes('&quot;70101&quot;'));
  });

  it('lists 1,000 faulty files', async () => {
    const { json } = await service.request('/readyz');
    deepStrictEqual([json.faultyFiles, json.files.length], [1001, 1000]);
  });

  it('searches for 24 words of 40 characters', async () => {
    const find = async (q: string): Promise<string[]> =>
      (await service.request(`/api/v2/bots?q=${q}`)).json.map(({ id }: { id: string }) => id);
    const words = Array.from({ length: 24 }, (_, i) => `q${(10 + i).toString(36)}`);
    deepStrictEqual(await find([...words.slice(1), 'tenvu'].join('+')), ['1000']);
    deepStrictEqual(await find([...words, 'tenvu'].join('+')), []);
    deepStrictEqual(await find(longWord), ['1001']);
    deepStrictEqual(await find(`${longWord}y`), []);
  });

  it('has 50 entries in a feed', async () => {
    const text = await (await fetch(`${service.address}/feeds/new.atom`)).text();
    strictEqual(text.match(/<entry /g)?.length, 50);
  });

  it('highlights 10,000 characters of code', async () => {
    const highlighted = async (id: string): Promise<boolean> =>
      (await (await fetch(`${service.address}/bots/${id}`)).text()).includes('<span class="hljs-');
    deepStrictEqual([await highlighted('1000'), await highlighted('1003')], [true, false]);
  });

  it('sends 1,000 streams of changes @long', async () => {
    const open = async (): Promise<Socket> => await openSocket(service.address);
    const streams = await Promise.all(Array.from({ length: 1000 }, open));
    const request = async (socket: Socket, client: number): Promise<number> =>
      await statusAfter(
        socket,
        `GET /api/v2/changes HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.${client}\r\nAccept: text/event-stream\r\n\r\n`,
      );
    const first = streams.slice(0, 50).map(async (socket) => await request(socket, 0));
    deepStrictEqual(new Set(await Promise.all(first)), new Set([200]));
    strictEqual(await request(await open(), 0), 429);
    const others = streams.slice(50).map(async (socket, i) => await request(socket, 1 + (i % 19)));
    deepStrictEqual(new Set(await Promise.all(others)), new Set([200]));
    strictEqual(await request(await open(), 20), 503);
    for (const socket of streams) socket.destroy();
    await eventually(async () => {
      const socket = await open();
      strictEqual(await request(socket, 20), 200);
      socket.destroy();
    });
  });

  async function send(path: string, body: string): Promise<{ status: number; text: string }> {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded', 'Sec-Fetch-Site': 'same-origin' };
    const response = await fetch(service.address + path, { method: 'POST', headers, body });
    return { status: response.status, text: await response.text() };
  }
});

/** Reads the entries of a fixture: a line, and the lines below it that begin with two spaces. */
function readEntries(name: string): string[][] {
  return readPackageFile(`test/fixtures/${name}.txt`)
    .trim()
    .split(/\n(?! )/)
    .map((entry) => entry.split('\n  '));
}

/** Returns the number that a name has in a file of src/. */
function findValue(file: string, name: string): number | undefined {
  const text = readPackageFile(`src/${file}`);
  const escaped = name.replaceAll(/[^\w]/g, String.raw`\$&`);
  const [, product] =
    new RegExp(String.raw`(?<!\w)${escaped}(?:: number)?(?: = |: |\(\s*|, )(${number})`).exec(text) ?? [];
  const factors = product
    ?.replaceAll('_', '')
    .split(' * ')
    .map((factor) => factor.split(' ** ').map(Number));
  return factors?.reduce((value, [base = 0, exponent = 1]) => value * base ** exponent, 1);
}

/** Returns what a figure is in the unit of the code. */
function toNumber(figure: string, name: string): number {
  const [, digits = '', unit = ''] = /^([\d,]+) ?(.*)$/.exec(figure) ?? [];
  const inUnit = name.endsWith('Seconds') ? 1000 : 1;
  return (
    (Number(digits.replaceAll(',', '')) * (units[unit] ?? Number.NaN)) /
    (unit.endsWith('B') ? 1 : unit ? inUnit : 1)
  );
}

const units: Readonly<Record<string, number>> = {
  '': 1,
  KiB: 1024,
  MiB: 2 ** 20,
  ms: 1,
  s: 1000,
  min: 60_000,
  h: 3_600_000,
};
