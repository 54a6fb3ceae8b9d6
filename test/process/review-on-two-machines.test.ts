import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import type { Notice } from '../../src/proposals/notifications.ts';
import { eventually } from '../support/eventually.ts';
import { readFormFields } from '../support/form-fields.ts';
import { startProvider } from '../support/login-provider.ts';
import { loginEnv, stranger as author } from '../support/login-site.ts';
import { freePort } from '../support/loopback.ts';
import { receiveNotices } from '../support/notices.ts';
import { whileAway } from '../support/proposal-machines.ts';
import { remoteFaults } from '../support/replica.ts';
import type { TestRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { originRemote, startTestService, type TestService } from '../support/service.ts';
import { type SharedRepository, sharedRepository } from '../support/shared-repository.ts';
import { type Page, versionIn, Visitor } from '../support/visitor.ts';

const homer = '1';
const maintainer = '42';

/** A service of the two, and its clone. */
interface Machine {
  readonly baseUrl: string;
  readonly clone: TestRepository;
  readonly service: TestService;
}

/** Somebody with a browser, and the page before their eyes. */
interface Person {
  readonly visitor: Visitor;
  readonly page: Page;
}

/** The fields that a person fills in for a new bot. */
const newBot = (id: string): Record<string, string> => ({
  id,
  locale: 'en',
  name: `Bot ${id}`,
  description: 'Reads.',
  category: 'fun',
  authors: author,
  invite: `https://discord.com/oauth2/authorize?client_id=${id}`,
});
const reviewOf = (id: string): string => `/review/${id}/${author}`;
const openRef = (id: string): string => `refs/botshelf/proposals/${id}/${author}`;

/** Presses a button of the form that makes a file, with more filled in. */
async function sendForm({ visitor, page }: Person, more: Readonly<Record<string, string>>): Promise<Page> {
  const [, to = ''] = /class="send"[^>]*formaction="([^"]*)"/i.exec(page.text) ?? [];
  return await visitor.press(page, to.replaceAll('&amp;', '&'), { ...readFormFields(page.text), ...more });
}

/** Presses a button of a proposal's page. */
async function decide(
  { visitor, page }: Person,
  decision: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Page> {
  return await visitor.press(page, page.url.pathname, { version: versionIn(page), decision, ...more });
}

describe('two machines with a login, whose people send and review', function () {
  let shared: SharedRepository;
  let machines: readonly [Machine, Machine];
  let notices: Notice[];

  before(async () => {
    const receiver = await receiveNotices();
    ({ notices } = receiver);
    shared = sharedRepository({
      'botshelf.json': JSON.stringify({ maintainers: [maintainer] }),
      [pagePath(homer)]: mainPage({ authors: [author] }),
    });
    const ports = [await freePort(), await freePort()] as const;
    const baseUrls = ports.map((port) => `http://localhost:${port}`);
    const provider = await startProvider(baseUrls[0] ?? '', {
      client: { redirect_uris: baseUrls.map((url) => `${url}/login/callback`) },
    });
    const start = async (port: number): Promise<Machine> => {
      const clone = shared.clone();
      const baseUrl = `http://localhost:${port}`;
      const env = {
        ...originRemote,
        ...loginEnv(provider.settings, ['a-secret-of-the-tests-which-is-long-enough']),
        PORT: String(port),
        BOTSHELF_BASE_URL: baseUrl,
        BOTSHELF_NOTIFY_URL: receiver.address,
      };
      return { baseUrl, clone, service: await startTestService({}, { root: clone.folder, env }) };
    };
    machines = await Promise.all([start(ports[0]), start(ports[1])]);
  });
  beforeEach(() => void notices.splice(0));

  /** Logs an account in at a machine, and opens a page there. */
  const open = async ({ baseUrl }: Machine, account: string, path: string): Promise<Person> => {
    const visitor = new Visitor();
    return { visitor, page: await visitor.logIn(await visitor.go(`${baseUrl}/login?to=${path}`), account) };
  };
  const go = async ({ baseUrl }: Machine, visitor: Visitor, path: string): Promise<Person> => ({
    visitor,
    page: await visitor.go(baseUrl + path),
  });
  /** Sends a new bot from a machine. */
  const send = async (machine: Machine, id: string): Promise<Page> => {
    const sent = await sendForm(await open(machine, author, '/add'), newBot(id));
    strictEqual(sent.url.pathname, `/proposals/${id}`);
    return sent;
  };
  /** Opens a proposal's page at a machine once it is there. */
  const openReview = async (machine: Machine, account: string, id: string): Promise<Person> => {
    const { visitor } = await open(machine, account, '/review');
    let person: Person | undefined;
    await eventually(async () => {
      person = await go(machine, visitor, reviewOf(id));
      strictEqual(person.page.status, 200);
      match(person.page.text, /name="version"/);
    });
    ok(person);
    return person;
  };
  /** Waits until both clones and the remote have the same, and looks for anything left over. */
  const settle = async (): Promise<void> => {
    const refs = ['for-each-ref', '--format=%(refname) %(objectname)'];
    const own = ['refs/heads/main', 'refs/botshelf/proposals', 'refs/botshelf/closed'];
    await eventually(() => {
      for (const { clone } of machines) strictEqual(clone.git(...refs, ...own), shared.git(...refs, ...own));
    });
    for (const { clone, service } of machines) {
      await eventually(() => strictEqual(clone.status(), ''));
      clone.git('fsck', '--strict', '--no-dangling');
      await eventually(async () => deepStrictEqual(await remoteFaults(service), []));
    }
  };
  /** The titles of the commits that have changed a bot. */
  const commitsOf = (id: string): string[] =>
    shared.git('log', '--no-merges', '--format=%s', 'main', '--', pagePath(id)).split('\n').filter(Boolean);

  it('take a new bot, through changes that are asked for, to its page', async () => {
    const [a, b] = machines;
    const id = '1001';
    const filled = { ...newBot(id), page: '# Hello\r\n\r\nA “page”.\r\n', note: 'Try /read.' };
    const { visitor: writer, page: form } = await open(a, author, '/add');
    const sent = await sendForm({ visitor: writer, page: form }, filled);
    match(sent.text, /Waiting for review/);
    doesNotMatch(sent.text, /cannot be reached/);

    const { visitor: reviewer } = await open(b, maintainer, '/review');
    await eventually(async () =>
      match((await go(b, reviewer, '/review')).page.text, /Bot 1001[^]*Person 190519304972664833/),
    );
    const first = await go(b, reviewer, reviewOf(id));
    match(first.page.text, /New bot[^]*Try \/read\./);
    const words = await decide(first, 'changes-asked', { text: 'Which server?' });
    match(words.text, /asked for changes[^]*Nothing waits for a review/);

    await eventually(async () => {
      const { page } = await go(a, writer, `/proposals/${id}`);
      match(page.text, /Changes asked for[^]*Which server\?/);
    });
    // A browser sends the cookies of a host to all its ports.
    writer.cookies.set(new URL(b.baseUrl).host, writer.cookies.get(new URL(a.baseUrl).host) ?? new Map());
    for (const machine of machines)
      match((await go(machine, writer, '/my-bots')).page.text, /Bot 1001[^]*Needs your answer/);
    const again = await go(a, writer, `/add?proposal=${pagePath(id)}`);
    const resent = await sendForm(again, { description: 'Reads on one server.' });
    match(resent.text, /Waiting for review[^]*Reads on one server\./);

    await eventually(async () =>
      match((await go(b, reviewer, reviewOf(id))).page.text, /Reads on one server\./),
    );
    const done = await decide(await go(b, reviewer, reviewOf(id)), 'accepted');
    doesNotMatch(done.text, /cannot be reached/);
    await eventually(() =>
      deepStrictEqual(
        notices.map(({ kind, url }) => `${kind} ${new URL(url).pathname}`),
        [
          `proposal ${reviewOf(id)}`,
          `decision /proposals/${id}`,
          `proposal ${reviewOf(id)}`,
          `decision /bots/${id}`,
        ],
      ),
    );

    for (const machine of machines) {
      await eventually(async () => {
        const { page } = await go(machine, new Visitor(), `/bots/${id}`);
        match(page.text, /Reads on one server\.[^]*A “page”\./);
      });
      await eventually(async () => {
        const { page } = await open(machine, maintainer, reviewOf(id));
        match(page.text, /This proposal is closed[^]*Person 42<\/bdi> accepted it/);
      });
    }
    await settle();
    deepStrictEqual(commitsOf(id), [`Add Bot 1001 (${id})`]);
    strictEqual(shared.git('for-each-ref', openRef(id)), '');
  });

  it('say what is saved on one of them only, and share it once the remote is back @long', async () => {
    const [a, b] = machines;
    for (const { service } of machines) {
      service.allowLog(/on this machine only|not shared with the other machines|remote|fetch|push/);
    }
    const id = '3001';
    await whileAway(shared, async () => {
      const sent = await send(a, id);
      match(sent.text, /Waiting for review/);
      match(sent.text, /It is saved on this server\. The shared Git server cannot be reached/);
      const done = await decide(await openReview(a, maintainer, id), 'accepted');
      match(done.text, /accepted it[^]*The shared Git server cannot be reached/);
      await eventually(async () => strictEqual((await go(a, new Visitor(), `/bots/${id}`)).page.status, 200));
      strictEqual((await go(b, new Visitor(), `/bots/${id}`)).page.status, 404);
    });
    await eventually(
      async () => strictEqual((await go(b, new Visitor(), `/bots/${id}`)).page.status, 200),
      30,
    );
    await eventually(async () =>
      match((await open(b, maintainer, reviewOf(id))).page.text, /Person 42<\/bdi> accepted it/),
    );
    await settle();
    strictEqual(commitsOf(id).length, 1);
  });
});
