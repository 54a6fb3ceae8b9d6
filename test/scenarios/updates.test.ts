import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import { testRepository, type TestRepository } from '../support/repository.ts';
import { commandsPath, mainPage, pagePath, translation } from '../support/sample.ts';
import { startTestService, type Answer, type TestService } from '../support/service.ts';
import { issueTestToken, updateRequest } from '../support/token.ts';

const homer = '190519304972663312';
const marge = '190519304972663313';

describe('POST /api/v2/bots/:id', () => {
  let repo: TestRepository;
  let service: TestService;
  let token: string;
  const post = async (body: unknown, headers: Record<string, string> = {}, id = homer): Promise<Answer> =>
    await service.request(`/api/v2/bots/${id}`, {
      method: 'POST',
      headers: { authorization: token, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' || body instanceof Blob ? body : JSON.stringify(body),
    });
  const assertCount = async (count: number): Promise<void> =>
    await eventually(async () =>
      strictEqual((await service.request(`/api/v2/bots/${homer}/counts`)).json.at(-1).count, count),
    );

  before(async () => {
    repo = testRepository({
      [pagePath(homer)]: mainPage({ edited: 1_700_000_000_000, nsfw: false, website: null }),
      [pagePath(homer, 'fr')]: translation('Homère', 'Répond.'),
      [pagePath(marge)]: mainPage({ name: 'Marge' }),
      [pagePath('8')]: mainPage({ name: 'Eight' }),
      [pagePath('9')]: mainPage({ name: 'Nine' }),
    });
    service = await startTestService({}, { root: repo.folder, env: { BOTSHELF_STATE_SECONDS: '1' } });
    token = await issueTestToken(repo.folder, homer);
  });

  describe('authorization', () => {
    const flip = (last: string): string => (last === '0' ? '1' : '0');
    for (const [what, authorize, detail] of [
      ['no token', () => '', /Authorization header: the operator issues one with "botshelf token \d+312"/],
      ['something else than a token', () => 'let me in', /not a complete token/],
      ['another scheme', () => `Basic ${token}`, /its 49 letters and digits, alone or after Bearer/],
      ['an invalid token', () => token.replace(/.$/, flip), /not a complete token/],
    ] as const)
      it(`with ${what} responds 401 and says what is wrong`, async () => {
        const answer = await post({ bot: { count: 1 } }, { authorization: authorize() });
        strictEqual(answer.status, 401);
        match(answer.headers.get('www-authenticate') ?? '', /^Bearer/);
        match(answer.json.detail, detail);
      });

    it('with the token of another bot responds 403, and for an unknown bot 404, whatever the token', async () => {
      const other = await issueTestToken(repo.folder, marge);
      for (const [id, authorization, status] of [
        [homer, other, 403],
        [marge, other, 200],
        ['5', token, 404],
      ] as const)
        strictEqual((await post({ bot: { count: 1 } }, { authorization }, id)).status, status);
    });

    it('with Bearer and white space around the token responds 200', async () => {
      for (const authorization of [`Bearer ${token}`, `bearer  ${token}`, ` ${token} `, `\t${token}`]) {
        strictEqual((await post({ bot: { count: 2 } }, { authorization })).status, 200, authorization);
      }
    });

    it('with a token from before a new one was issued responds 401', async () => {
      const old = token;
      token = await issueTestToken(repo.folder, homer);
      strictEqual((await post({ bot: { count: 3 } }, { authorization: old })).status, 401);
      strictEqual((await post({ bot: { count: 3 } })).status, 200);
    });
  });

  describe('the body', () => {
    it('with a count in either form responds with what was stored', async () => {
      deepStrictEqual((await post({ bot: { count: 156 } })).json, { bot: { count: 156 }, commit: null });
      deepStrictEqual((await post({ 'bot.count': 157 })).json, { bot: { count: 157 }, commit: null });
      await assertCount(157);
      strictEqual((await service.request('/api/v2/bots?sort=-count&limit=1')).json[0].id, homer);
    });

    it('has the same response and metric in every spelling of the path', async () => {
      const paths = [homer, `${homer}/`, `${homer}?from=1`, `%31${homer.slice(1)}`];
      const countOf = async (status: number): Promise<number> => {
        const text = await (await fetch(`${service.address}/metrics`)).text();
        const line = `_count{method="POST",route="/api/v2/bots/:id",status="${status}"} `;
        return Number.parseInt(text.split(line)[1] ?? '0', 10);
      };
      for (const [body, status] of [
        [{ bot: { count: 158 } }, 200],
        [{ bot: { count: -1 } }, 422],
      ] as const) {
        const before = await countOf(status);
        const answers = [];
        for (const path of paths) answers.push(await post(body, {}, path));
        const seen = answers.map(({ headers, text }) => {
          const kept = [...headers].filter(([name]) => !['date', 'ratelimit'].includes(name));
          return JSON.stringify([kept, text]);
        });
        deepStrictEqual(new Set(answers.map((answer) => answer.status)), new Set([status]));
        strictEqual(new Set(seen).size, 1, seen.join('\n'));
        strictEqual(await countOf(status), before + paths.length);
      }
    });

    it('with a key that only a pull request changes responds 422 with the file to edit', async () => {
      const answer = await post({ 'bot.codehost.owner': 'x' });
      strictEqual(answer.status, 422);
      match(answer.json.detail, /edit bots\/312\/190519304972663312\.en\.md by pull request/);
    });

    it('that is not JSON or not UTF-8 responds 400', async () => {
      for (const body of ['', '{', new Blob([Uint8Array.of(0x7b, 0xff, 0x7d)])])
        strictEqual((await post(body)).status, 400, JSON.stringify(body));
    });

    it('over 64 KiB responds 413, of another type or encoded 415', async () => {
      strictEqual((await post({ bot: { website: 'x'.repeat(65_536) } })).status, 413);
      for (const [headers, status] of [
        [{ 'content-type': 'application/x-www-form-urlencoded' }, 415],
        [{ 'content-type': 'application/json; charset=utf-16' }, 415],
        [{ 'content-encoding': 'gzip' }, 415],
        [{ 'content-encoding': 'identity' }, 200],
        [{ 'content-type': 'application/json; charset=UTF-8' }, 200],
      ] as const)
        strictEqual((await post({ bot: { count: 1 } }, headers)).status, status);
    });
  });

  describe('content', () => {
    it('is committed before the answer, changes just its lines, and sets edited', async () => {
      const file = join(repo.folder, pagePath(homer));
      const before = readFileSync(file, 'utf8');
      const started = Date.now();
      const { status, json } = await post({ bot: { category: 'music', nsfw: true, count: 9 } });
      strictEqual(status, 200);
      deepStrictEqual(json.bot, { category: 'music', nsfw: true, count: 9 });
      strictEqual(json.commit, repo.git('rev-parse', 'HEAD'));
      strictEqual(repo.git('log', '-1', '--format=%s'), `Update Homer (${homer}): category, nsfw`);
      const changed = repo
        .git('show', '--format=', '--unified=0')
        .split('\n')
        .filter((line) => /^[+-] /.test(line));
      strictEqual(changed.length, 6, changed.join('\n'));
      const record = (await service.request(`/api/v2/bots/${homer}`)).json;
      strictEqual(record.category, 'music');
      await assertCount(9);
      ok(record.edited >= started);
      strictEqual(readFileSync(file, 'utf8').split('---\n').at(-1), before.split('---\n').at(-1));
    });

    it('that changes nothing makes no commit and leaves edited as it is', async () => {
      await post({ bot: { category: 'games' } });
      const head = repo.git('rev-parse', 'HEAD');
      strictEqual((await post({ bot: { category: 'games' } })).json.commit, null);
      strictEqual(repo.git('rev-parse', 'HEAD'), head);
    });

    it('with the ETag of before as If-Match responds 412 with the current ETag', async () => {
      const read = await service.request(`/api/v2/bots/${homer}`);
      const etag = read.headers.get('etag') ?? '';
      const setWebsite = async (website: string, condition: string): Promise<Answer> =>
        await post({ bot: { website } }, { 'if-match': condition });
      strictEqual((await setWebsite('https://example.org/1', etag)).status, 200);
      const refused = await setWebsite('https://example.org/2', etag);
      strictEqual(refused.status, 412);
      const current = refused.headers.get('etag') ?? '';
      // Proxies that compress make the ETags of reads weak.
      for (const [condition, status] of [
        [`W/${etag}`, 412],
        [`"x", W/${current}`, 200],
        [`"x", ${current}`, 412],
      ] as const)
        strictEqual((await setWebsite('https://example.org/2', condition)).status, status, condition);
      strictEqual((await post({ bot: { website: null } }, { 'if-match': '*' })).status, 200);
    });

    it('of two posts with the same If-Match responds 200 and 412', async () => {
      const etag = (await service.request(`/api/v2/bots/${homer}`)).headers.get('etag') ?? '';
      const answers = await Promise.all(
        [1, 2].map((n) => post({ bot: { support: `https://example.org/${n}` } }, { 'if-match': etag })),
      );
      deepStrictEqual(
        answers.map(({ status }) => status).toSorted((a, b) => a - b),
        [200, 412],
      );
    });
  });

  it('responds with no-store, and a preflight does not allow it to pages of other sites', async () => {
    const { headers } = await post({ bot: { count: 5 } });
    strictEqual(headers.get('cache-control'), 'no-store');
    strictEqual(headers.get('access-control-allow-origin'), null);
    const preflight = await service.request(`/api/v2/bots/${homer}`, { method: 'OPTIONS' });
    ok(!preflight.headers.get('access-control-allow-methods')?.includes('POST'));
  });

  /** Posts to a bot, and does `work` before the body has come whole. */
  const postWhile = async (
    id: string,
    headers: Readonly<Record<string, string>>,
    work: () => Promise<void>,
  ): Promise<IncomingMessage & { text: string }> => {
    const call = request(`${service.address}/api/v2/bots/${id}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
    });
    const answered = once(call, 'response');
    call.write('{"bot": ');
    // The token is checked before the body is read: what follows is after that.
    await setTimeout(200);
    await work();
    call.end('{"nsfw": true}}');
    const [response] = (await answered) as [IncomingMessage];
    return Object.assign(response, { text: (await response.toArray()).join('') });
  };

  it('whose token ends before its body has come is refused', async () => {
    const authorization = await issueTestToken(repo.folder, marge);
    const { statusCode, text } = await postWhile(marge, { authorization }, async () => {
      await issueTestToken(repo.folder, marge);
    });
    strictEqual(statusCode, 401);
    match(text, /urn:botshelf:problem:bad-token/);
  });

  it('for a bot that is removed meanwhile responds 404, with If-Match and without', async () => {
    for (const [id, headers] of [
      ['8', {}],
      ['9', { 'If-Match': '"x"' }],
    ] as const) {
      const authorization = await issueTestToken(repo.folder, id);
      const response = await postWhile(id, { authorization, ...headers }, async () => {
        rmSync(join(repo.folder, pagePath(id)));
        await eventually(async () => strictEqual((await service.request(`/api/v2/bots/${id}`)).status, 404));
      });
      deepStrictEqual([response.statusCode, response.headers.etag], [404, undefined]);
      match(response.text, /urn:botshelf:problem:unknown-bot/);
    }
  });
});

describe('the rate limits', () => {
  it('count posts by bot and refused tokens by address, and say when to come back @slow', async () => {
    const repo = testRepository({ [pagePath('1')]: mainPage(), [pagePath('2')]: mainPage() });
    const service = await startTestService(
      {},
      { root: repo.folder, env: { BOTSHELF_RATE_LIMIT: '2', BOTSHELF_BAD_TOKEN_LIMIT: '2' } },
    );
    const send = async (id: string, authorization: string): Promise<Answer> =>
      await service.post(id, authorization, { count: 1 });
    const [one, two] = [await issueTestToken(repo.folder, '1'), await issueTestToken(repo.folder, '2')];
    const first = await send('1', one);
    strictEqual(first.headers.get('ratelimit-policy'), '"posts";q=2;w=60');
    match(first.headers.get('ratelimit') ?? '', /^"posts";r=1;t=\d+$/);
    strictEqual((await send('1', one)).status, 200);
    const over = await send('1', one);
    strictEqual(over.status, 429);
    ok(Number(over.headers.get('retry-after')) > 0);
    strictEqual((await send('2', two)).status, 200, 'another bot has a limit of its own');

    strictEqual((await send('2', 'junk')).status, 401);
    strictEqual((await send('2', 'junk')).status, 401);
    strictEqual((await send('2', 'junk')).status, 429);
    strictEqual((await send('2', two)).status, 200, 'a valid token is not kept out by its address');
  });

  it('count the commits of content and of commands by bot, and refuse the one over them whole @slow', async () => {
    const repo = testRepository({ [pagePath('1')]: mainPage(), [pagePath('2')]: mainPage() });
    const service = await startTestService(
      {},
      { root: repo.folder, env: { BOTSHELF_CONTENT_LIMIT: '2', BOTSHELF_COMMANDS_LIMIT: '2' } },
    );
    const [one, two] = [await issueTestToken(repo.folder, '1'), await issueTestToken(repo.folder, '2')];
    const post = async (bot: object, id = '1', token = one): Promise<Answer> =>
      await service.post(id, token, bot);
    const put = async (name: string): Promise<Answer> =>
      await service.request('/api/v2/bots/1/commands', {
        ...updateRequest(one, {}),
        method: 'PUT',
        body: JSON.stringify([{ name, description: 'Plays' }]),
      });
    const commits = (): number => Number(repo.git('rev-list', '--count', 'HEAD'));
    const before = commits();
    for (const [policy, send, advice] of [
      [
        'content',
        async (n: number) => await post({ website: `https://example.org/${n}`, count: n }),
        /counts alone/,
      ],
      ['commands', async (n: number) => await put(`play${n}`), /only when they change/],
    ] as const) {
      const answers = await Promise.all([1, 2, 3].map(send));
      const refused = answers.filter(({ status }) => status === 429);
      deepStrictEqual([policy, refused.length], [policy, 1]);
      const { json, headers } = refused[0] ?? (await send(4));
      strictEqual(json.type, 'urn:botshelf:problem:too-many-requests');
      match(json.detail, advice);
      strictEqual(headers.get('ratelimit-policy'), `"${policy}";q=2;w=3600`);
      ok(Number(headers.get('retry-after')) > 60);
      const { count } = (await service.request('/api/v2/counts')).json['1'];
      const saved = answers.flatMap(({ status }, i) => (status === 200 ? [i + 1] : []));
      ok(saved.includes(count), `${count} is of a post that was refused`);
    }
    const { website } = (await service.request('/api/v2/bots/1')).json;
    const unchanged = await post({ website, count: 5 });
    deepStrictEqual([unchanged.status, unchanged.json.commit], [200, null]);
    const [{ name }] = (await service.request('/api/v2/bots/1/commands')).json;
    strictEqual((await put(name)).status, 200);
    strictEqual((await post({ count: 6 })).status, 200);
    strictEqual((await post({ nsfw: true }, '2', two)).status, 200, 'another bot has limits of its own');
    strictEqual(commits() - before, 5);
  });
});

describe('PUT /api/v2/bots/:id/commands', () => {
  it('is saved, read back and searched at once, and not saved again where nothing differs @slow', async () => {
    const repo = testRepository({
      [pagePath(homer)]: mainPage(),
      [pagePath(homer, 'fr')]: translation('a', 'b'),
    });
    const service = await startTestService({}, { root: repo.folder });
    const token = await issueTestToken(repo.folder, homer);
    const path = `/api/v2/bots/${homer}/commands`;
    const headers = { authorization: token, 'content-type': 'application/json' };
    const put = async (body: object, more = {}): Promise<Answer> =>
      await service.request(path, {
        method: 'PUT',
        headers: { ...headers, ...more },
        body: JSON.stringify(body),
      });
    match(
      (await service.request(path)).json.detail,
      /^no commands of \d+ are known: its owner can put them here/,
    );
    const ofBot = (await service.request(`/api/v2/bots/${homer}`)).headers.get('etag') ?? '';
    const commands = [
      { name: 'zap', id: '1' },
      { name: 'flanders', description: 'Greets the neighbour' },
    ];
    strictEqual((await put(commands, { authorization: 'x' })).status, 401);
    const refusedFirst = await put(commands, { 'if-match': ofBot });
    deepStrictEqual([refusedFirst.status, refusedFirst.headers.get('etag')], [412, null]);
    strictEqual((await put(commands, { 'if-match': '*' })).status, 412, 'there are none yet');
    const { json } = await put(commands);
    deepStrictEqual(json, { commands: 2, commit: repo.git('rev-parse', 'HEAD') });
    strictEqual(repo.status(), '');
    match(repo.git('log', '-1', '--format=%B'), /^Update Homer \(\d+\): commands\n\nBot: \d+$/);
    const read = await service.request(path);
    deepStrictEqual(read.json, [commands[1], { name: 'zap' }]);
    const etag = { 'if-none-match': read.headers.get('etag') ?? '' };
    strictEqual((await service.request(path, { headers: etag })).status, 304);
    deepStrictEqual((await put(commands.toReversed())).json, { commands: 2, commit: null });
    const ofCommands = read.headers.get('etag') ?? '';
    const refused = await put([], { 'if-match': ofBot });
    deepStrictEqual([refused.status, refused.headers.get('etag')], [412, ofCommands]);
    strictEqual((await put([], { 'if-match': ofCommands })).status, 200);
    strictEqual((await put(commands, { 'if-match': ofCommands })).status, 412);
    strictEqual((await put(commands)).status, 200);
    strictEqual((await put(commands, { 'if-match': '*' })).status, 200);
    strictEqual((await service.request('/api/v2/bots?q=neighbour')).json[0].id, homer);
    strictEqual((await service.request('/api/v1/bots')).json.length, 2);
    const page = await (await fetch(`${service.address}/bots/${homer}`)).text();
    match(page, /<b>\/flanders<\/b>/);
    await eventually(async () => {
      const { json: all } = await service.request(`/api/v2/bots/${homer}/changes`);
      // The commit that added the bot may be of the same second.
      const { pages, newBot } = all.find((change: { commands: boolean }) => change.commands);
      deepStrictEqual([pages, newBot], [[], false]);
    });
    match(repo.git('show', `HEAD:${commandsPath(homer)}`), /^\{\n {2}"commands": \[\n/);
    const large = await put([{ name: 'a', description: 'x'.repeat(128 * 1024) }]);
    deepStrictEqual([large.status, large.json.type], [413, 'urn:botshelf:problem:too-large']);
  });
});
