import { readCases } from './fixture-lines.ts';

/** One request of a stranger's, the `i`th of its kind. */
export interface HostileRequest {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string;
}

/** How many bots the catalogue has that strangers attack. */
export const botCount = Number(process.env['BOTS'] ?? 300);

/** The account that is the author of all bots, and their maintainer. */
export const maintainer = '42';

/**
 * Returns the `i`th word of a description: one bot each has it, and twenty are of one bot. It has no digit, because no other
 * spelling is looked for of words with one.
 */
export function rareWord(i: number): string {
  const number = ((i % (botCount * wordsPerBot)) * 7919 + 1) % 26 ** 4;
  return Array.from({ length: 4 }, (_, place) => {
    const letter = Math.floor(number / 26 ** place) % 26;
    return `${String.fromCharCode(97 + letter)}${'aeiou'[letter % 5]}`;
  }).join('');
}

export const wordsPerBot = 20;

/** Returns the id of a bot, another one for each `i`. */
export function hostedBot(i: number): string {
  return String(7 + (i % botCount));
}

/** Returns the ids of a hundred bots. */
function hostedBots(i: number): string {
  return Array.from({ length: 100 }, (_, n) => hostedBot(i * 100 + n)).join();
}

/**
 * Fills in a text: ⟨3 × a#,⟩ is a0,a1,a2, ⟨i⟩, ⟨i+1⟩ and ⟨i%9+1⟩ have the number of the request, ⟨id⟩ is the id of a bot,
 * and ↵ the end of a line.
 */
export function fillIn(text: string, i: number): string {
  const repeat = (part: string, times: number): string =>
    part.includes('#')
      ? Array.from({ length: times }, (_, n) => part.replace('#', String(n))).join('')
      : part.repeat(times);
  const filled = text
    .replaceAll('↵', '\n')
    .replaceAll('⟨id⟩', hostedBot(i))
    .replaceAll(/⟨i(?:%(\d+))?(?:\+(\d+))?⟩/g, (_, of = Infinity, more = 0) =>
      String((i % Number(of)) + Number(more)),
    )
    .replaceAll(/⟨(\d+) × ([^⟨⟩]*)⟩/g, (_, times, part: string) => repeat(part, Number(times)));
  return filled.includes('⟨') ? fillIn(filled, i) : filled;
}

type Make<T> = (i: number) => T;

/** Queries that search, as bad as they can be. */
const searches = (
  [
    (i) => Array.from({ length: 20 }, (_, n) => `${rareWord(i * 20 + n)}x`).join(' '),
    (i) => Array.from({ length: 24 }, (_, n) => rareWord(i * 24 + n).slice(0, 3)).join(' '),
    (i) => Array.from({ length: 100 }, (_, n) => (i + n).toString(36).slice(-1)).join(' '),
    (i) => `${rareWord(i).slice(0, 5)}${'ae'.repeat(15)}`,
    (i) => `${'!?'.repeat(90)} ${i}`,
    (i) => `${'\u0301'.repeat((i % 99) + 1)}\u0663`,
    (i) => `answers questions about doughnuts fun bot ${i}`,
    (i) => `${'天気予報知'.repeat(30)}${i}`,
  ] satisfies Make<string>[]
).map((toText) => (i: number) => `q=${encodeURIComponent(toText(i))}`);

const lists: readonly Make<string>[] = [
  ...searches,
  ...searches.map((toQuery) => (i: number) => `${toQuery(i)}&sort=name`),
  ...['id', 'name', '-random', 'count', '-growth'].map(
    (sort) => (i: number) => `sort=${sort}&limit=${(i % 24) + 1}&author=${maintainer}`,
  ),
  (i) => `sort=random&limit=${(i % 24) + 1}`,
  (i) => `limit=1&locale=x-a${i}`,
  (i) => `limit=1&active=7d&verified=false&nsfw=false&openSource=false&administrator=false&author=${i}`,
];

const pages: readonly Make<string>[] = [
  ...searches.slice(0, 3),
  ...searches.slice(0, 3).map((toQuery) => (i: number) => `${toQuery(i)}&sort=newest&active=7d`),
  ...['popular', 'name'].map((sort) => (i: number) => `sort=${sort}&page=${(i % 12) + 1}&locale=x-a${i}`),
  (i) => `language=x-a${i}`,
  (i) => `nsfw=true&source=open&verified=true&administrator=false&active=7d&author=${i}`,
  (i) => `nsfw=true&source=open&administrator=false&active=7d&language=x-a${i}`,
];

/** Bodies of forms: many fields, a short one and long ones. */
const bodies = {
  'thousands of fields': 'a&'.repeat(100_000),
  'a short form': `version=x&decision=declined&reason=other&text=${'%26'.repeat(4000)}`,
  'a long form': `name=x&description=x&page=${'a%0A'.repeat(10_000)}&authors=${'1+'.repeat(20_000)}&bots=${'1+'.repeat(20_000)}&preview=${'x+'.repeat(20_000)}`,
};

/** A page for each of many queries. */
const queried = (path: string, queries: readonly Make<string>[]): Make<string>[] =>
  queries.map((query) => (i) => `${path}?${query(i)}`);

type RouteTable = Readonly<Record<string, readonly Make<string>[]>>;

/**
 * The requests to each route of the service, by method and path; `listAttacks` adds those that are the same for all.
 * Assets and the packages of the clients are left out: each is one file.
 */
export const routes: RouteTable = {
  ...Object.fromEntries(
    readCases('hostile-routes').map(({ input, expected }) => {
      const paths = expected.length === 0 ? [input.replace(/.* /, '')] : expected;
      return [input, paths.map((path) => (i: number) => fillIn(path, i))];
    }),
  ),
  'GET /': [() => '/', ...queried('/', pages)],
  'GET /categories/:category': [() => '/categories/fun', ...queried('/categories/fun', pages)],
  'GET /compare': [
    (i) => `/compare?bots=${[0, 1, 2, 3].map((n) => hostedBot(i * 7919 + n * 31)).join()}`,
    (i) => `/compare?bots=${hostedBot(i)}${',1'.repeat(7000)}`,
  ],
  'GET /watch': [
    (i) => `/watch?ids=${hostedBots(i)}`,
    (i) => `/watch?bots=${Array.from({ length: 100 }, (_, n) => `name${i * 100 + n}`).join('%0A')}`,
  ],
  'GET /feeds/watch.atom': [(i) => `/feeds/watch.atom?ids=${hostedBots(i)}&locale=x-a${i}`],
  'POST /review/reports/:id/:act': [(i) => `/review/reports/${i}/${['done', 'adult', 'remove', 'x'][i % 4]}`],
  'GET /api/v2/bots': queried('/api/v2/bots', lists),
};

/** Returns what strangers and, if they are logged in, others request of a route, by what is bad about it. */
export function listAttacks(route: string, cookie: string): Map<string, Make<HostileRequest>> {
  const [method = '', pattern = ''] = route.split(' ');
  const paths = routes[route] ?? [];
  const attacks = new Map<string, Make<HostileRequest>>();
  const add = (name: string, make: Make<HostileRequest>): void => {
    attacks.set(name, (i) => {
      const { headers, ...request } = make(i);
      return { ...request, method, headers: { Accept: 'text/html,*/*', ...headers } };
    });
  };
  const addBoth = (name: string, make: Make<HostileRequest>): void => {
    add(name, make);
    if (pattern.startsWith('/api/')) return;
    add(`${name}, logged in`, (i) => ({ ...make(i), headers: { ...make(i).headers, Cookie: cookie } }));
  };
  const [toFirst = () => pattern] = paths;
  const headers = {
    'Content-Type': 'application/x-www-form-urlencoded',
    'Sec-Fetch-Site': 'same-origin',
    'X-Hub-Signature-256': `sha256=${'0'.repeat(64)}`,
  };
  if (method !== 'GET')
    for (const [name, body] of Object.entries(bodies))
      addBoth(name, (i) => ({ path: toFirst(i), headers, body }));
  else {
    for (const [n, toPath] of paths.entries())
      addBoth(`path ${n}, ${toPath(0).slice(0, 60)}`, (i) => ({ path: toPath(i) }));
    for (const [name, query] of Object.entries(queries))
      add(name, (i) => ({ path: toFirst(i).replace(/\?.*|$/, `?x${i}=&${query}`) }));
  }
  if (pattern.includes(':')) {
    const long = '1'.repeat(15_000 / pattern.split(':').length);
    add('a long path', (i) => ({ path: pattern.replace(/:\w+/g, `${long}${i}`), headers }));
  }
  return attacks;
}

const queries = {
  'thousands of parameters': 'a=%41&'.repeat(2000),
  'ninety parameters': Array.from({ length: 90 }, (_, n) => `a${n}=${'%41'.repeat(40)}`).join('&'),
};
