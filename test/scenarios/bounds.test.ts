import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { eventually } from '../support/eventually.ts';
import { testRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { startTestService, type TestService } from '../support/service.ts';

const top = fileURLToPath(new URL('./', import.meta.resolve('#package')));

/** An item of `docs/bounds.md`: its figures, in the order of the places in `src/` that have them, and its tests. */
interface Item {
  readonly name: string;
  readonly figures: readonly string[];
  readonly places: readonly string[];
  readonly tests: readonly string[];
}

/** The places and tests of each item, in the order of the document. */
const listed = readFileSync(`${top}test/fixtures/bounds.txt`, 'utf8')
  .trim()
  .split(/\n(?! )/)
  .map((entry) => entry.split('\n  '));

const items = [...readFileSync(`${top}docs/bounds.md`, 'utf8').matchAll(/^- (.+?):(.+(?:\n {2}.+)*)$/gm)].map(
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
    String.raw`\b(max(?:[A-Z]\w*)?|\w*[lL]imit|\w*Timeout|timeoutMs)(?:: number)? ?[=:] ?(?:${number})(?=[;,\s})])`,
    'g',
  ),
  new RegExp(
    String.raw`\bnew ((?:SerialQueue|FairQueue|LRUCache|CurrentCache)(?:<[^(]*>)?)\(\s*(?:${number})`,
    'g',
  ),
  new RegExp(String.raw`\bnew RateLimit\(('[\w-]+'), (?:${number})`, 'g'),
];

/** Limits that clients, files and remotes do not reach, by why not. */
const others: Readonly<Record<string, readonly string[]>> = {
  'what is shown, of what is bounded before': [
    'app/uncommitted-pages.ts maxNamedPaths',
    'bot/commit-message.ts maxNameLength',
    'bot/commit-message.ts maxReasonLength',
    'catalogue/changes/bot-changes.ts maxFields',
    'catalogue/changes/bot-changes.ts maxReviewCommits',
    'check/change-rules.ts maxNamedPaths',
    'commands/doctor.ts maxNamedImages',
    'commands/images.ts maxNamedImages',
    'git/run-git.ts maxStderrLength',
    'http/api/changes-routes.ts defaultLimit',
    'http/api/read-routes.ts defaultLimit',
    'http/problem.ts maxPathLength',
    'lib/retry.ts max',
    'proposals/host-review.ts maxShownLength',
    'proposals/host-review.ts maxTitleLength',
    'proposals/proposal.ts maxLineLength',
    'desk/account/my-bots-pages.tsx maxOnLedge',
    'desk/account/proposal-pages.tsx maxListed',
    'site/bot/bot-page.tsx maxCollections',
    'site/bot/compare-page.tsx maxCompared',
    'site/bot/compare-page.tsx maxIdLength',
    'site/bot/compare-page.tsx maxSameName',
    'site/bot/related-bots.ts maxOfAuthor',
    'site/bot/related-bots.ts maxSimilar',
    'site/front/card.tsx maxOnLedge',
    'site/front/card.tsx maxTags',
    'site/front/categories-page.tsx limit',
    'site/front/collection-pages.tsx maxOthers',
    'site/front/front-list.ts limit',
    'site/front/front-list.ts maxExamples',
    'site/front/front-list.ts maxNearWords',
    'site/front/front-list.ts maxOnShelf',
    'site/front/front-list.ts maxWaitMs',
    'site/front/front-page.tsx maxBesideFeatured',
    'site/front/front-page.tsx maxCollections',
    'site/front/front-page.tsx maxInitials',
    'site/front/front-page.tsx maxLabels',
    'site/front/front-page.tsx maxOnLedge',
    'site/front/list-page.tsx maxLanguages',
    'site/front/list-page.tsx maxWider',
    'site/front/lost-page.tsx maxNear',
    'site/front/mentions.ts maxAfter',
    'site/front/mentions.ts maxBefore',
    'site/front/mentions.ts maxSearchedLength',
    'site/front/shelf-tile.tsx maxAvatars',
    'site/markdown/html-tree.ts maxSlugLength',
    'site/markdown/page-layout.ts maxNameLength',
    'site/page/docs-page.tsx limit',
    'site/page/docs-page.tsx maxTitleLength',
    'site/page/repository-links.ts maxLinkLength',
    'desk/add/shelf.tsx maxFound',
    'desk/review/attention-list.tsx maxOpenItems',
    'site/discover/attention.ts maxItems',
    'desk/review/block-page.tsx maxBots',
    'desk/review/queue-page.tsx maxNames',
    'desk/review/review-page.tsx maxFindings',
    'desk/review/review-routes.tsx maxOthers',
    'desk/review/review-routes.tsx maxRanked',
    'desk/review/reviews.ts maxRelated',
    'sync/remote.ts maxLineLength',
    'sync/sync.ts maxRewrites',
  ],
  'how a search weighs and an index is built, whatever is searched for': [
    'catalogue/lists/relevance.ts maxSteps',
    'catalogue/search/bot-search.ts maxBotsInSlices',
    'catalogue/search/segment.ts maxPostingsPerPageWord',
    'catalogue/search/postings-builder.ts maxTimes',
    'catalogue/search/postings.ts maxPlace',
  ],
  'attempts and times of work of the service itself': [
    'catalogue/store/stat-cache.ts maxWritingMs',
    'commands/demo.ts maxRetries',
    'counts/state-ref.ts maxConflicts',
    'counts/state-ref.ts maxKills',
    'git/branch/committer.ts maxAttempts',
    'git/branch/clone.ts maxWaitMs',
    'git/branch/committer.ts maxAttempts',
    'git/branch/committer.ts maxLockWaitMs',
    'git/branch/locks.ts maxAttempts',
    'git/branch/locks.ts maxAnswerMs',
    'git/branch/locks.ts maxBriefMs',
    'git/branch/locks.ts maxRequestMs',
    'git/branch/locks.ts maxResponseMs',
    'sync/command-commits.ts maxLockWaitMs',
    'git/run-git.ts maxStallSeconds',
    'git/repository.ts maxAttempts',
    'images/decoder.ts idleTimeout',
    'images/image-queue.ts maxHostPauseMs',
    'lib/retry.ts maxRemoteMs',
    'lib/time-slice.ts maxUntimedSteps',
    'proposals/shared-proposals.ts maxDecidingMs',
    'site/front/front-list.ts maxWaitMs',
    'site/page/docs-page.tsx maxRenderMs',
    'sync/remote.ts maxAttempts',
    'sync/remote.ts maxAttempts',
    'sync/sync.ts maxCloseWaitSeconds',
    'sync/sync.ts maxPushWaitSeconds',
    'sync/sync.ts maxStartWaitSeconds',
    'tokens/tokens.ts maxCheckMs',
  ],
  'what a person changes without counting it': ['commands/change-bots.ts maxUnnumberedBots'],
  'sizes of parts that work is done in, and what a format can have': [
    'app/app.ts maxIpsCount',
    'catalogue/changes/change-index.ts maxPendingLength',
    'catalogue/lists/lists.ts maxPicked',
    'catalogue/store/watcher.ts maxHintsPerSecond',
    'check/history-rules.ts maxAttributesSize',
    'check/check.ts maxThreads',
    'bot/clock.ts maxEditedLeadMs',
    'bot/clock.ts maxLeadMs',
    'bot/clock.ts maxTime',
    'counts/count-history.ts maxChangeBytes',
    'counts/state.ts maxGeneration',
    'git/branch/feed.ts maxRead',
    'git/branch/locks.ts maxAddressBytes',
    'git/branch/git-index.ts maxWholeIndexBytes',
    'http/api/counts-routes.ts maxSeconds',
    'lib/text.ts maxNameLength',
    'lib/text.ts maxPieceBytes',
    'lib/setting-reader.ts maxSecretBytes',
    'lib/worker-pool.ts maxTimerMs',
    'login/session.ts maxSessionMs',
    'proposals/shared-proposals.ts maxRefsPerPush',
    'proposals/visitor-reports.ts maxAgeMs',
    'site/discover/feeds.ts maxValueLength',
    'site/markdown/sanitise-html.ts maxRounds',
  ],
};

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
              !existsSync(`${top}test/${file}`) || !readFileSync(`${top}test/${file}`, 'utf8').includes(name)
            );
          }),
    );
    deepStrictEqual(missing, []);
  });

  it('are all that src/ has', () => {
    const named = new Set([...items.flatMap(({ places }) => places), ...Object.values(others).flat()]);
    const files = readdirSync(`${top}src`, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.tsx?$/.test(name),
    );
    const found = files.flatMap((file) => {
      const text = readFileSync(`${top}src/${file}`, 'utf8');
      return limits.flatMap((limit) => [...text.matchAll(limit)].map(([, name]) => `${file} ${name}`));
    });
    ok(found.length > 200);
    deepStrictEqual([...new Set(found)].filter((place) => !named.has(place)).toSorted(), []);
    deepStrictEqual(
      [...new Set(Object.values(others).flat())].filter((place) => !found.includes(place)),
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
    const streams = await Promise.all(Array.from({ length: 1000 }, open));
    const requestOf = (client: number): string =>
      `GET /api/v2/changes HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.${client}\r\nAccept: text/event-stream\r\n\r\n`;
    const first = streams.slice(0, 50).map(async (socket) => await firstLine(socket, requestOf(0)));
    for (const line of await Promise.all(first)) match(line, / 200 /);
    match(await firstLine(await open(), requestOf(0)), / 429 /);
    const others = streams
      .slice(50)
      .map(async (socket, i) => await firstLine(socket, requestOf(1 + (i % 19))));
    for (const line of await Promise.all(others)) match(line, / 200 /);
    const request = requestOf(20);
    match(await firstLine(await open(), request), / 503 /);
    for (const socket of streams) socket.destroy();
    await eventually(async () => {
      const socket = await open();
      match(await firstLine(socket, request), / 200 /);
      socket.destroy();
    });
  });

  async function send(path: string, body: string): Promise<{ status: number; text: string }> {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded', 'Sec-Fetch-Site': 'same-origin' };
    const response = await fetch(service.address + path, { method: 'POST', headers, body });
    return { status: response.status, text: await response.text() };
  }

  async function open(): Promise<Socket> {
    const { hostname, port } = new URL(service.address);
    const socket = connect(Number(port), hostname).on('error', () => {});
    await once(socket, 'connect');
    return socket;
  }

  async function firstLine(socket: Socket, request: string): Promise<string> {
    socket.write(request);
    return String((await once(socket, 'data'))[0]).split('\r\n')[0] ?? '';
  }
});

/** Returns the number that a name has in a file of src/. */
function findValue(file: string, name: string): number | undefined {
  const text = readFileSync(`${top}src/${file}`, 'utf8');
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
