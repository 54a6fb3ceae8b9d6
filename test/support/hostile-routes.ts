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

/** The requests to the routes of a form. */
const form = (path: string, toPath: Make<string>, ...more: Make<string>[]): RouteTable => ({
  [`GET ${path}`]: [toPath, ...more],
  [`POST ${path}`]: [toPath],
  [`POST ${path}/file`]: [(i) => `${toPath(i)}/file`],
  [`POST ${path}/send`]: [(i) => `${toPath(i)}/send`],
});

/** The routes whose path is always the same, and that have no parameters of their own. */
const plainPaths = `
  /categories /api/v2/categories /.well-known/security.txt /api /api/openapi.json /api/v1/bots
  /api/v2 /api/v2/counts/history.csv /api/v2/counts /api/v2/counts.csv /api/v2/export.ndjson
  /api/v2/export.ndjson.gz /apple-touch-icon.png /about /docs /docs/bots /docs/lists /docs/errors
  /docs/changelog /docs/consumers /docs/javascript /docs/python /docs/post /docs.md /docs/bots.md
  /docs/lists.md /docs/errors.md /docs/changelog.md /docs/consumers.md /docs/javascript.md
  /docs/python.md /docs/post.md /favicon.ico /feeds /healthz
  /metrics /openapi.json /opensearch.xml /readyz /robots.txt /site.webmanifest /sitemap.xml
`;

type RouteTable = Readonly<Record<string, readonly Make<string>[]>>;

/**
 * The requests to each route of the service, by method and path; `listAttacks` adds those that are the same for all.
 * Assets and the packages of the clients are left out: each is one file.
 */
export const routes: RouteTable = {
  ...Object.fromEntries(
    plainPaths
      .trim()
      .split(/\s+/)
      .map((path) => [`GET ${path}`, [() => path]]),
  ),
  'GET /': [() => '/', ...queried('/', pages)],
  'GET /categories/:category': [() => '/categories/fun', ...queried('/categories/fun', pages)],
  'GET /bots/:id': [(i) => `/bots/${hostedBot(i)}`, (i) => `/bots/${hostedBot(i)}?locale=x-a${i}`],
  'GET /bots/:id/badge.svg': [
    (i) => `/bots/${hostedBot(i)}/badge.svg`,
    (i) => `/bots/${hostedBot(i)}/badge.svg?accent=${i}&label=x${i}`,
  ],
  'GET /bots/:id/card.png': [(i) => `/bots/${hostedBot(i)}/card.png?v=${i}`],
  'GET /bots/:id/commands': [
    (i) => `/bots/${hostedBot(i)}/commands`,
    (i) => `/bots/${hostedBot(i)}/commands?q=x${i}`,
  ],
  'GET /bots/:id/changes': [
    (i) => `/bots/${hostedBot(i)}/changes`,
    (i) => `/bots/${hostedBot(i)}/changes?after=${i}`,
  ],
  'GET /bots/:id/token': [(i) => `/bots/${hostedBot(i)}/token`],
  'POST /bots/:id/token': [(i) => `/bots/${hostedBot(i)}/token`],
  'POST /bots/:id/token/revoke': [(i) => `/bots/${hostedBot(i)}/token/revoke`],
  'GET /bots/:id/report': [(i) => `/bots/${hostedBot(i)}/report`],
  'POST /bots/:id/report': [(i) => `/bots/${hostedBot(i)}/report`],
  ...form('/bots/:id/edit', (i) => `/bots/${hostedBot(i)}/edit`),
  ...form('/bots/:id/translate', (i) => `/bots/${hostedBot(i)}/translate`),
  ...form(
    '/add',
    () => '/add',
    (i) => `/add?draft=${i}`,
    (i) => `/add?proposal=bots/7/${i}.en.md`,
  ),
  ...form('/add/collection', () => '/add/collection'),
  ...form('/collections/:name/edit', () => '/collections/all/edit'),
  ...form('/collections/:name/translate', () => '/collections/all/translate'),
  ...form('/my-bots/name', () => '/my-bots/name'),
  'GET /collections/:name': [() => '/collections/all', (i) => `/collections/all?nsfw=true&locale=x-${i}`],
  'GET /collections': [(i) => `/collections?page=${i + 1}`],
  'GET /compare': [
    (i) => `/compare?bots=${[0, 1, 2, 3].map((n) => hostedBot(i * 7919 + n * 31)).join()}`,
    (i) => `/compare?bots=${hostedBot(i)}${',1'.repeat(7000)}`,
  ],
  'GET /watch': [
    (i) => `/watch?ids=${hostedBots(i)}`,
    (i) => `/watch?bots=${Array.from({ length: 100 }, (_, n) => `name${i * 100 + n}`).join('%0A')}`,
  ],
  'GET /feeds/watch.atom': [(i) => `/feeds/watch.atom?ids=${hostedBots(i)}&locale=x-a${i}`],
  'GET /authors/:id': [() => `/authors/${maintainer}`, (i) => `/authors/${maintainer}?locale=x-a${i}`],
  'GET /authors/:id/attention.atom': [(i) => `/authors/${maintainer}/attention.atom?locale=x-a${i}`],
  'GET /bots': [(i) => `/bots?locale=x-a${i}`],
  'GET /feeds/author/:id.atom': [(i) => `/feeds/author/${maintainer}.atom?locale=x-a${i}`],
  'GET /feeds/bot/:id.atom': [(i) => `/feeds/bot/${hostedBot(i)}.atom`],
  'GET /feeds/category/:name.atom': [(i) => `/feeds/category/fun.atom?locale=x-a${i}`],
  'GET /feeds/collection/:name.atom': [(i) => `/feeds/collection/all.atom?locale=x-a${i}`],
  'GET /feeds/new.atom': [(i) => `/feeds/new.atom?locale=x-a${i}`],
  'GET /my-bots': [() => '/my-bots', (i) => `/my-bots?page=${i + 1}`],
  'GET /proposals/:subject': [() => '/proposals/7'],
  'POST /proposals/:subject/withdraw': [() => '/proposals/7/withdraw'],
  'GET /proposals/:subject/bot': [() => '/proposals/7/bot'],
  'POST /proposals/:subject/bot/withdraw': [() => '/proposals/7/bot/withdraw'],
  'GET /review': [() => '/review', (i) => `/review?page=${i + 1}&done=7/801`],
  'GET /review/blocked': [() => '/review/blocked', (i) => `/review/blocked?kind=host&name=${i}.example`],
  'POST /review/blocked': [() => '/review/blocked'],
  'GET /review/:subject/:account': [(i) => `/review/7/${i}`],
  'POST /review/:subject/:account': [() => '/review/7/801'],
  'POST /review/reports/:id/:act': [(i) => `/review/reports/${i}/${['done', 'adult', 'remove', 'x'][i % 4]}`],
  'GET /login': [(i) => `/login?to=/bots/${i}`],
  'GET /login/callback': [(i) => `/login/callback?code=${i}&state=${i}`],
  'POST /logout': [() => '/logout'],
  'GET /api/v1/bots/:id': [(i) => `/api/v1/bots/${hostedBot(i)}`],
  'GET /api/v2/authors': [(i) => `/api/v2/authors?limit=${(i % 999) + 1}&after=${i}`],
  'GET /api/v2/authors/:id': [() => `/api/v2/authors/${maintainer}`],
  'GET /api/v2/bots': queried('/api/v2/bots', lists),
  'GET /api/v2/bots/:id': [(i) => `/api/v2/bots/${hostedBot(i)}`],
  'POST /api/v2/bots/:id': [(i) => `/api/v2/bots/${hostedBot(i)}`],
  'POST /api/v2/bots/stats': [() => '/api/v2/bots/stats'],
  'POST /api/v2/bots/:id/stats': [(i) => `/api/v2/bots/${hostedBot(i)}/stats`],
  'GET /api/v2/bots/:id/changes': [(i) => `/api/v2/bots/${hostedBot(i)}/changes`],
  'GET /api/v2/bots/:id/commands': [(i) => `/api/v2/bots/${hostedBot(i)}/commands`],
  'POST /api/v2/bots/:id/commands': [(i) => `/api/v2/bots/${hostedBot(i)}/commands`],
  'GET /api/v2/bots/:id/stats': [(i) => `/api/v2/bots/${hostedBot(i)}/stats`],
  'PUT /api/v2/bots/:id/commands': [(i) => `/api/v2/bots/${hostedBot(i)}/commands`],
  'PUT /api/v2/bots/:id/pages/:locale': [(i) => `/api/v2/bots/${hostedBot(i)}/pages/en`],
  'GET /api/v2/bots/:id/counts': [(i) => `/api/v2/bots/${hostedBot(i)}/counts?from=${2017 + (i % 9)}-01-01`],
  'GET /api/v2/changes': [(i) => `/api/v2/changes?limit=${i + 1}`],
  'GET /api/v2/collections': [(i) => `/api/v2/collections?limit=${(i % 999) + 1}`],
  'GET /sitemaps/:number.xml.gz': [() => '/sitemaps/1.xml.gz'],
  'GET /assets/own/:name': [() => '/assets/own/logo.png'],
  'POST /hooks/push': [() => '/hooks/push'],
  'GET /api/v2/counts/history.ndjson': [
    (i) => `/api/v2/counts/history.ndjson?from=${2017 + (i % 9)}-01-01&to=${2017 + (i % 9)}-12-31`,
  ],
  'GET /language': [(i) => `/language?locale=x-${i}`],
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
