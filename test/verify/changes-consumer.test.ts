import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { EventReader, type ReadEvent } from '../support/event-reader.ts';
import { eventually } from '../support/eventually.ts';
import type { TestRepository } from '../support/repository.ts';
import { mainPage, pagePath, translation } from '../support/sample.ts';
import { originRemote } from '../support/service.ts';
import { clearedLock } from '../support/service-log.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { type SharedRepository, sharedRepository } from '../support/shared-repository.ts';
import { issueTestToken, updateRequest } from '../support/token.ts';

/** The minimum number of changes. The short form makes few together. The long one is `npm run changes`. */
const total = Number(process.env['CHANGES'] ?? 30);
const maxAtOnce = total > 1000 ? 20 : 3;

const posted = ['1', '2', '3', '4'];
const edited = Array.from({ length: 10 * maxAtOnce }, (_, i) => String(1000 + i));
const merged = Array.from({ length: 3 * maxAtOnce }, (_, i) => String(200 + i));

interface Change {
  readonly commit: string;
  readonly bot: string;
  readonly what: string;
}

/** Keeps a copy of all bots, page by page or by the events, whatever happens to the service. */
class Consumer {
  readonly records = new Map<string, string>();
  /** How often it has read all bots. */
  starts = 0;
  changes = 0;
  cursor = '';
  /** The changes that were announced before the service served them. */
  readonly early: string[] = [];
  readonly #kind: 'pages' | 'events';
  readonly #addressOf: () => string;
  readonly #isOlder: (change: Change, record: string | undefined) => boolean;
  #isStopped = false;
  #reader: EventReader | undefined;

  constructor(
    kind: 'pages' | 'events',
    addressOf: () => string,
    isOlder: (change: Change, record: string | undefined) => boolean,
  ) {
    this.#kind = kind;
    this.#addressOf = addressOf;
    this.#isOlder = isOlder;
  }

  async run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        if (this.cursor === '') await this.#begin();
        await (this.#kind === 'pages' ? this.#readPage() : this.#readEvents());
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
      }
      await rest(20);
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#reader?.close();
  }

  async #get(path: string): Promise<{ status: number; text: string }> {
    const response = await fetch(this.#addressOf() + path);
    const answer = { status: response.status, text: await response.text() };
    // As when it is away.
    if (answer.status === 503) throw new TypeError(answer.text);
    return answer;
  }

  async #begin(): Promise<void> {
    const response = await fetch(`${this.#addressOf()}/api/v2/export.ndjson`);
    const lines = (await response.text()).trimEnd().split('\n');
    if (!response.ok) throw new TypeError(lines.join());
    this.records.clear();
    for (const line of lines) {
      const { files: _files, ...record } = JSON.parse(line) as { id: string; files: unknown };
      this.records.set(record.id, JSON.stringify(record));
    }
    this.starts++;
    this.cursor = response.headers.get('x-cursor') ?? '';
  }

  async #readBot(id: string): Promise<string | undefined> {
    const { status, text } = await this.#get(`/api/v2/bots/${id}`);
    if (status === 200) this.records.set(id, text);
    else this.records.delete(id);
    return this.records.get(id);
  }

  async #take(change: Change): Promise<void> {
    const record = await this.#readBot(change.bot);
    this.changes++;
    // Of each it would take longer than all the rest.
    if (Math.random() < 30 / total && this.#isOlder(change, record))
      this.early.push(JSON.stringify([change, record]));
  }

  async #readPage(): Promise<void> {
    const limit = 1 + Math.floor(Math.random() * 8);
    const { status, text } = await this.#get(`/api/v2/changes?since=${this.cursor}&limit=${limit}`);
    if (status === 410) this.cursor = '';
    if (status !== 200) return;
    const { changes, next } = JSON.parse(text) as { changes: Change[]; next: string };
    for (const change of changes) await this.#take(change);
    this.cursor = next;
  }

  async #readEvents(): Promise<void> {
    const events: ReadEvent[] = [];
    const reader = new EventReader(`${this.#addressOf()}/api/v2/changes`, this.cursor, (event) => {
      events.push(event);
    });
    this.#reader = reader;
    while (reader.status === undefined || events.length > 0) {
      const event = events.shift();
      if (event === undefined) {
        this.cursor = reader.lastId;
        await rest(5);
        continue;
      }
      strictEqual(event.name, (JSON.parse(event.data) as Change).what);
      await this.#take(JSON.parse(event.data) as Change);
      this.cursor = event.id;
    }
    if (reader.status === 410) this.cursor = '';
    else if (reader.status === 200) this.cursor = reader.lastId;
  }
}

describe('a consumer that follows what changes in the catalogue', () => {
  let shared: SharedRepository;
  let clone: TestRepository;
  let service: ServiceProcess;
  const tokens = new Map<string, string>();
  const consumers: Consumer[] = [];
  let running: Promise<void[]>;
  let version = 0;

  before(async function () {
    this.timeout(300_000);
    shared = sharedRepository(Object.fromEntries([...posted, ...merged].map((id) => [pagePath(id), page()])));
    for (const id of posted) tokens.set(id, await issueTestToken(shared.maintainer.folder, id));
    shared.maintainer.git('push', '-q', 'origin', 'refs/botshelf/state');
    clone = shared.clone();
    service = await start(originRemote);
    for (const kind of ['pages', 'events'] as const)
      consumers.push(new Consumer(kind, () => service.address, isOlder));
    running = Promise.all(consumers.map(async (consumer) => await consumer.run()));
    await eventually(() => consumers.every(({ starts }) => starts === 1));
  });
  after(() => {
    for (const consumer of consumers) consumer.stop();
  });

  it('has the same records in the end, after posts, edits, merges and crashes', async function () {
    this.timeout(300_000 + total * 300);
    const crashes = Math.max(2, Math.floor(total / 1000));
    for (let crash = 1; crash <= crashes; crash++) {
      while (version < (total * crash) / crashes) {
        const kind = Math.random();
        if (kind < 0.5) await post();
        else if (kind < 0.93) await edit();
        else merge();
      }
      await service.end('SIGKILL');
      await edit(1);
      service = await start(originRemote);
    }
    // An edit that a killed service had locked was not committed, and so not announced.
    await edit();
    await eventually(() => strictEqual(clone.git('rev-parse', 'HEAD'), shared.git('rev-parse', 'main')), 60);
    await sameRecords();
    deepStrictEqual(
      consumers.map(({ starts }) => starts),
      [1, 1],
    );
    ok(
      consumers.every(({ changes }) => changes > total / 4),
      'they were told of too little',
    );
  });

  it('begins again after the branch was rewritten', async function () {
    this.timeout(300_000 + total * 12);
    await service.end('SIGTERM');
    clone.git('remote', 'remove', 'origin');
    service = await start({});
    await edit();
    await sameRecords();
    clone.git('reset', '-q', '--hard', 'HEAD~3');
    await edit();
    await eventually(() => consumers.every(({ starts }) => starts === 2));
    await edit();
    await sameRecords();
    for (const consumer of consumers) consumer.stop();
    await running;
    deepStrictEqual(
      consumers.flatMap(({ early }) => early),
      [],
    );
  });

  function page(): string {
    return mainPage({ website: `https://example.org/${++version}` });
  }

  async function start(env: Readonly<Record<string, string>>): Promise<ServiceProcess> {
    const started = await startServiceProcess(clone.folder, env);
    started.allowLog(clearedLock);
    started.allowLog(/uncommitted/);
    started.allowLog(/"msg":"set aside /);
    return started;
  }

  /** Owners post, and the others go on after the first response. */
  async function post(): Promise<void> {
    const posts = Array.from({ length: countAtOnce() }, async () => {
      const id = pick(posted);
      const body = { website: `https://example.org/${++version}` };
      const request = updateRequest(tokens.get(id) ?? '', body);
      const response = await fetch(`${service.address}/api/v2/bots/${id}`, request).catch(() => undefined);
      await response?.arrayBuffer().catch(() => undefined);
    });
    await Promise.race(posts);
  }

  /** A person adds, changes or removes some bots or translations, and commits. */
  async function edit(attempts = 200): Promise<void> {
    for (let left = countAtOnce(); left > 0; left--) {
      const id = pick(edited);
      const isThere = existsSync(join(clone.folder, pagePath(id)));
      const kind = Math.random();
      if (!isThere || kind < 0.4) clone.write(pagePath(id), page());
      else if (kind < 0.7)
        clone.write(pagePath(id, pick(['de', 'fr'])), translation(`Homer ${++version}`, 'x'));
      else if (kind < 0.85) rmSync(join(clone.folder, pagePath(id, pick(['de', 'fr']))), { force: true });
      else
        for (const locale of ['en', 'de', 'fr'])
          rmSync(join(clone.folder, pagePath(id, locale)), { force: true });
    }
    // The service may have the lock, or have left it when it was killed. What is not committed now is committed later.
    const commands = [
      ['add', '-A', 'bots'],
      ['commit', '-q', '--allow-empty', '-m', 'Edit by hand'],
    ];
    for (const command of commands)
      for (let left = attempts; left > 0 && clone.tryGit(...command) !== 0; left--) await rest(20);
  }

  function merge(): void {
    shared.mergePullRequest((person) => {
      for (let left = countAtOnce(); left > 0; left--) person.write(pagePath(pick(merged)), page());
      person.write(pagePath(pick(merged), 'de'), translation(`Homer ${++version}`, 'x'));
    });
  }

  async function sameRecords(): Promise<void> {
    const list = async (): Promise<Map<string, string>> => {
      const response = await fetch(`${service.address}/api/v2/bots?fields=id`);
      const ids = ((await response.json()) as { id: string }[]).map(({ id }) => id);
      const records = ids.map(
        async (id) => await (await fetch(`${service.address}/api/v2/bots/${id}`)).text(),
      );
      const all = await Promise.all(records);
      return new Map(ids.map((id, i) => [id, all[i] ?? '']));
    };
    await untilTold();
    await eventually(async () => {
      const records = await list();
      for (const consumer of consumers) deepStrictEqual(consumer.records, records);
      const { next } = (await (await fetch(`${service.address}/api/v2/changes`)).json()) as { next: string };
      strictEqual(next, clone.git('rev-parse', 'HEAD'));
    });
  }

  /** Waits until the consumers are at the tip, which takes minutes on a busy machine, as long as they are told of changes. */
  async function untilTold(): Promise<void> {
    const isTold = (): boolean => {
      const head = clone.git('rev-parse', 'HEAD');
      return consumers.every(({ cursor }) => cursor === head);
    };
    for (let before = -1; ;) {
      const told = consumers.reduce((sum, { changes }) => sum + changes, 0);
      try {
        return await eventually(isTold, 60);
      } catch (error) {
        if (told === before) throw error;
        before = told;
      }
    }
  }

  /** Whether a record is older than the commit that the consumer was told of. */
  function isOlder({ commit, bot }: Change, record: string | undefined): boolean {
    const numberIn = (text: string): number => Number(/example\.org\/(\d+)/.exec(text)?.[1] ?? 0);
    const path = `${commit}:${pagePath(bot)}`;
    if (record === undefined || clone.tryGit('cat-file', '-e', path) !== 0) return false;
    if (numberIn(record) >= numberIn(clone.git('cat-file', 'blob', path))) return false;
    return clone.tryGit('merge-base', '--is-ancestor', commit, 'HEAD') === 0;
  }
});

function countAtOnce(): number {
  return 1 + Math.floor(Math.random() * maxAtOnce);
}

function pick<T>(items: readonly T[]): T {
  return items[Math.floor(Math.random() * items.length)] as T;
}
