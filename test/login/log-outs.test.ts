import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mock } from 'node:test';
import { KeyRing, LogOuts, Sessions } from '../../src/login/login.ts';
import { type RecordedLog, recordedLog } from '../support/recorded-log.ts';
import { accountId } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';

const day = 86_400_000;
const start = 1_700_000_000_000;

describe('a log-out', () => {
  let folder: string;
  let log: RecordedLog;
  let sessions: Sessions;

  /** Starts the service again: what it knows is from the file. */
  async function restart(): Promise<void> {
    const logOuts = new LogOuts({ folder, log });
    await logOuts.load();
    const keys = new KeyRing(['a secret of the tests, which is long enough']);
    sessions = new Sessions(keys, 'https://login.example.org', logOuts);
  }
  const logIn = async (account = '42'): Promise<string> => {
    const { text } = await sessions.begin({ id: accountId(account), name: 'Marge', authenticatedAt: start });
    return text;
  };
  const isOpen = async (cookie: string): Promise<boolean> => (await sessions.open(cookie)) !== undefined;
  const file = (): string => join(folder, 'log-outs.json');
  const listAccounts = (): string[] =>
    (JSON.parse(readFileSync(file(), 'utf8')) as [string, number][]).map(([id]) => id);

  beforeEach(async () => {
    mock.timers.enable({ apis: ['Date'], now: start });
    folder = tempFolder();
    log = recordedLog();
    await restart();
  });

  afterEach(() => mock.timers.reset());

  it('ends all earlier sessions of the account, also renewed ones and after a restart, and no others', async () => {
    const [own, elsewhere, other] = [await logIn(), await logIn(), await logIn('43')];
    mock.timers.tick(2 * day);
    const opened = await sessions.open(elsewhere);
    ok(opened?.renewal);
    await sessions.end(own);
    const renewedLate = (await sessions.renewRead(opened.session)).text;
    for (const check of [async (): Promise<void> => {}, restart]) {
      await check();
      const ended: string[] = [own, elsewhere, opened.renewal.text, renewedLate];
      for (const cookie of ended) strictEqual(await isOpen(cookie), false);
      strictEqual(await isOpen(other), true);
    }
    strictEqual(statSync(file()).mode & 0o777, 0o600);
    deepStrictEqual(log.lines, []);
  });

  it('ends no later session, even of the same millisecond or of a clock that was set back', async () => {
    for (const ms of [0, 0, 1, -3_600_000, 0]) {
      mock.timers.setTime(Date.now() + ms);
      const [first, second] = [await logIn(), await logIn()];
      await sessions.end(first);
      const later = await logIn();
      const open = [await isOpen(first), await isOpen(second), await isOpen(later)];
      deepStrictEqual(open, [false, false, true], `${ms}`);
      await sessions.end(first);
      ok(await isOpen(later), 'a copy of the ended session ends nothing');
    }
  });

  it('is durable when it resolves, however many there are at a time, and for a copy too', async () => {
    const cookies = await Promise.all(Array.from({ length: 20 }, async (_, i) => await logIn(String(i))));
    await Promise.all(
      [...cookies, ...cookies].map(async (cookie, i) => {
        await sessions.end(cookie);
        ok(listAccounts().includes(String(i % 20)));
      }),
    );
    const { mtimeNs } = statSync(file(), { bigint: true });
    await sessions.end('no session');
    await sessions.end(cookies[0] ?? '');
    strictEqual(statSync(file(), { bigint: true }).mtimeNs, mtimeNs, 'nothing is new');
    deepStrictEqual(readdirSync(folder), ['log-outs.json']);
  });

  it('ends the sessions also if it cannot be saved, and is saved by the next one', async () => {
    const [own, other] = [await logIn(), await logIn('43')];
    mkdirSync(file());
    await rejects(sessions.end(own), { code: 'write-failed' });
    strictEqual(await isOpen(own), false);
    rmSync(file(), { recursive: true });
    await sessions.end(other);
    deepStrictEqual(listAccounts(), ['42', '43']);
  });

  it('is forgotten when its sessions could live no longer', async () => {
    await sessions.end(await logIn());
    mock.timers.tick(30 * day);
    await sessions.end(await logIn('43'));
    deepStrictEqual(listAccounts(), ['42', '43']);
    mock.timers.tick(1);
    await sessions.end(await logIn('44'));
    deepStrictEqual(listAccounts(), ['43', '44']);
  });

  it('is the oldest one that is forgotten, of more than 10,000 accounts', async () => {
    const all = Array.from({ length: 10_000 }, (_, i) => [String(20_000 - i), start]);
    writeFileSync(file(), JSON.stringify(all));
    await restart();
    await sessions.end(await logIn('20000'));
    strictEqual(listAccounts().length, 10_000);
    await sessions.end(await logIn('1'));
    deepStrictEqual([listAccounts().length, listAccounts()[0]], [10_000, '19998']);
    deepStrictEqual(listAccounts().slice(-2), ['20000', '1']);
  });

  for (const text of ['', '{', 'null', '{}', '[1]', '[["42"]]', '[["x", 1]]', '[[42, 1]]', '[["42", "1"]]'])
    it(`is not known of from a damaged file, ${text}, of which the log warns`, async () => {
      writeFileSync(file(), text);
      await restart();
      ok(await isOpen(await logIn()));
      strictEqual(log.lines.length, 1);
      ok(/^warn: .*log-outs\.json cannot be read .*BOTSHELF_SECRET/.test(log.lines[0] ?? ''), log.lines[0]);
    });
});
