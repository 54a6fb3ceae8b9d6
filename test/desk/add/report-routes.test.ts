import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Notice } from '../../../src/proposals/notifications.ts';
import type { SentReport } from '../../../src/proposals/visitor-reports.ts';
import { eventually } from '../../support/eventually.ts';
import { receiveNotices } from '../../support/notices.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { tempFolder, writeFiles } from '../../support/temp-folder.ts';

describe('the form that reports a bot', () => {
  let service: TestService;
  let folder: string;
  let addresses = 0;
  let notices: Notice[];

  before(async () => {
    const receiver = await receiveNotices();
    ({ notices } = receiver);
    const env = {
      BOTSHELF_VAR: tempFolder(),
      BOTSHELF_TRUST_PROXY: 'on',
      BOTSHELF_NOTIFY_URL: `${receiver.address}/a-secret-token`,
    };
    folder = join(env.BOTSHELF_VAR, 'reports');
    service = await startTestService({ [pagePath('1')]: mainPage(), [pagePath('2')]: mainPage() }, { env });
  });
  beforeEach(() => void notices.splice(0));
  after(() => doesNotMatch(service.log(), /a-secret-token/));

  const get = async (path: string): Promise<Response> => await fetch(service.address + path);
  /** Sends the form, by default from a new address. */
  const send = async (
    fields: Readonly<Record<string, string>>,
    { path = '/bots/1/report', headers = {} }: { path?: string; headers?: Record<string, string> } = {},
  ): Promise<{ status: number; headers: Headers; text: string }> => {
    const response = await fetch(service.address + path, {
      method: 'POST',
      headers: {
        accept: 'text/html',
        'sec-fetch-site': 'same-origin',
        'x-forwarded-for': `203.0.113.${++addresses}`,
        ...headers,
      },
      body: new URLSearchParams(fields),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const kept = (): string[] => (existsSync(folder) ? readdirSync(folder) : []);

  it('is a page that the bot’s page leads to, and that no search engine lists', async () => {
    match(await (await get('/bots/1')).text(), /<a href="\/bots\/1\/report">Report<\/a>/);
    const response = await get('/bots/1/report');
    strictEqual(response.status, 200);
    strictEqual(response.headers.get('cache-control'), 'private, no-store');
    const page = await response.text();
    match(page, /<h1>Report <bdi>Homer<\/bdi><\/h1>/);
    match(page, /<meta name="robots" content="noindex"/);
    match(await (await get('/robots.txt')).text(), /^Disallow: \/bots\/\*\/report$/m);
    for (const id of ['3', 'x']) strictEqual((await get(`/bots/${id}/report`)).status, 404);
  });

  it('keeps the report without the sender, sends a notice, and says thank you in the language of the page', async () => {
    const before = kept().length;
    const text = 'It asks for passwords.\r\nSee #general.';
    const headers = { 'x-forwarded-for': '198.51.100.77', cookie: 'a=b', 'user-agent': 'Netscape' };
    const page = await send({ reason: 'scam', text }, { path: '/bots/1/report?locale=de', headers });
    strictEqual(page.status, 200);
    match(page.text, /<h1>Danke<\/h1>/);
    strictEqual(kept().length, before + 1);
    const content = readFileSync(join(folder, kept().at(-1) ?? ''), 'utf8');
    deepStrictEqual(JSON.parse(content) as SentReport, {
      bot: '1',
      reason: 'scam',
      text: 'It asks for passwords.\nSee #general.',
      locale: 'de',
    });
    await eventually(() => strictEqual(notices.length, 1));
    const { kind, title, text: sent, url } = notices[0] ?? {};
    deepStrictEqual(
      [kind, title, sent, url],
      ['report', 'Report about Homer (1): scam', text.replace('\r', ''), 'https://bots.example.org/bots/1'],
    );
    doesNotMatch(JSON.stringify(notices) + content, /198\.51|Netscape/);
  });

  it('asks for a text where the reason says nothing, and refuses what no browser sends', async () => {
    const before = kept().length;
    const page = await send({ reason: 'other', text: ' \r\n ' });
    strictEqual(page.status, 422);
    match(page.text, /role="alert">Say in a few words/);
    match(page.text, /<option value="other" selected/);
    for (const [fields, status] of [
      [{ reason: '', text: 'x' }, 400],
      [{ reason: 'constructor', text: 'x' }, 400],
      [{ text: 'x' }, 400],
      [{ reason: 'scam', text: 'x'.repeat(1001) }, 400],
      [{ reason: 'scam', text: 'ö'.repeat(20_000) }, 413],
    ] as const)
      strictEqual((await send(fields)).status, status);
    deepStrictEqual([kept().length, notices], [before, []]);
  });

  it('takes 1,000 characters as a browser counts them', async () => {
    const page = await send({ reason: 'other', text: `${'a\r\n'.repeat(499)}bc` });
    strictEqual(page.status, 200);
    await eventually(() => strictEqual(notices.length, 1));
  });

  it('thanks a program that fills in what people do not see, and keeps nothing', async () => {
    const before = kept().length;
    match(await (await get('/bots/1/report')).text(), /<p hidden><label for="subject">.*?name="subject"/);
    const page = await send({ reason: 'scam', text: 'Buy now', subject: 'x' });
    strictEqual(page.status, 200);
    match(page.text, /<h1>Thank you<\/h1>/);
    deepStrictEqual([kept().length, notices], [before, []]);
  });

  it('is refused from a page of another site', async () => {
    const before = kept().length;
    const headers = { 'sec-fetch-site': 'cross-site' };
    strictEqual((await send({ reason: 'scam', text: '' }, { headers })).status, 403);
    strictEqual(kept().length, before);
  });

  it('is limited to five a minute from an address', async () => {
    const sendFrom = async (address: string): ReturnType<typeof send> =>
      await send({ reason: 'scam' }, { path: '/bots/2/report', headers: { 'x-forwarded-for': address } });
    for (let i = 0; i < 5; i++) strictEqual((await sendFrom('2001:db8::1')).status, 200);
    const { status, headers } = await sendFrom('2001:db8::2');
    strictEqual(status, 429);
    ok(Number(headers.get('retry-after')) > 0);
  });

  it('answers as always to one too many of an address about the bot in a day, and sends no notice of it', async () => {
    const before = kept().length;
    const headers = { 'x-forwarded-for': '198.51.100.78' };
    const junk = { path: '/bots/2/report', headers };
    for (let i = 0; i < 5; i++) strictEqual((await send({ reason: 'offline' }, junk)).status, 200);
    strictEqual(kept().length - before, 3);
    await send({ reason: 'offline', text: 'Real' }, { path: '/bots/2/report' });
    strictEqual(kept().length - before, 4);
    await eventually(() => strictEqual(notices.map(({ text }) => text).join(), ',,,Real'));
  });

  it('is not there where the settings name another place for reports', async () => {
    const report = 'https://example.org/report';
    writeFiles(service.root, { 'botshelf.json': JSON.stringify({ links: { report } }) });
    await eventually(async () => strictEqual((await get('/bots/1/report')).status, 404));
    strictEqual((await send({ reason: 'scam' })).status, 404);
    match(await (await get('/bots/1')).text(), /<a href="https:\/\/example\.org\/report">Report<\/a>/);
  });

  it('has its notices beside those of files that become faulty @long', async () => {
    service.expectLog(/a file breaks a rule/);
    writeFiles(service.root, { [pagePath('2')]: mainPage({ category: 1 }) });
    await eventually(() => strictEqual(notices[0]?.title, `${pagePath('2')} is faulty`));
  });
});
