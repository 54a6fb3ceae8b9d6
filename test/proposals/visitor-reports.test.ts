import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isUnavailable } from '../../src/bot/errors.ts';
import type { Locale } from '../../src/bot/locale.ts';
import { type SentReport, VisitorReports } from '../../src/proposals/visitor-reports.ts';
import { atTime } from '../support/at-time.ts';
import { recordedLog } from '../support/recorded-log.ts';
import { botId } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';

const day = 86_400_000;
const start = Date.UTC(2027, 0, 1);
const address = '192.0.2.1';

function report(text: string, bot = '1'): SentReport {
  return { bot: botId(bot), reason: 'scam', text, locale: 'en' as Locale };
}

describe('reports of visitors', () => {
  let folder: string;
  let log = recordedLog();
  /** The time that the newest commit confirms. */
  let confirmed: () => number;
  beforeEach(() => {
    folder = join(tempFolder(), 'reports');
    log = recordedLog();
    confirmed = () => Date.now();
  });

  const openReports = async (): Promise<VisitorReports> =>
    await VisitorReports.open(folder, log, async () => confirmed());
  const texts = (reports: VisitorReports): string[] => reports.list().map(({ text }) => text);

  it('are kept through a restart, the newest first, until they are removed', async () => {
    const reports = await openReports();
    for (const text of ['a', 'b\n</p>', ''])
      await atTime(start, async () => await reports.add(report(text), address));
    writeFileSync(join(folder, '../outside'), '');
    await atTime(start + 3, async () => {
      deepStrictEqual(texts(reports), ['', 'b\n</p>', 'a']);
      const again = await openReports();
      deepStrictEqual(again.list(), reports.list());
      const times = again.list().map(({ at }) => at);
      deepStrictEqual(times, [start + 2, start + 1, start], 'no two have the same');
      deepStrictEqual(
        { ...again.list()[2], id: '' },
        { id: '', bot: '1', reason: 'scam', text: 'a', locale: 'en', at: start },
      );
      for (const id of [again.list()[1]?.id ?? '', '../outside', 'unknown']) await again.remove(id);
      ok(readdirSync(join(folder, '..')).includes('outside'));
      deepStrictEqual(texts(again), ['', 'a']);
      deepStrictEqual(texts(await openReports()), ['', 'a']);
    });
    deepStrictEqual(log.lines, []);
  });

  it('are durable before they are answered, and have nothing about the visitor', async () => {
    const added = await (await openReports()).add(report('Words.'), address);
    deepStrictEqual(readdirSync(folder), [added?.id]);
    strictEqual(statSync(join(folder, added?.id ?? '')).mode & 0o777, 0o600);
    deepStrictEqual(JSON.parse(readFileSync(join(folder, added?.id ?? ''), 'utf8')), report('Words.'));
  });

  it('are kept for 90 days', async () => {
    const reports = await openReports();
    await atTime(start, async () => await reports.add(report('a'), address));
    await atTime(start + day, async () => await reports.add(report('b'), address));
    await atTime(start + 90 * day, async () => {
      deepStrictEqual(texts(reports), ['b']);
      await openReports();
      strictEqual(readdirSync(folder).length, 1);
    });
  });

  it('are not deleted for their age by a clock that no commit confirms, and come back when it is right again', async () => {
    confirmed = () => start + day;
    const reports = await openReports();
    await atTime(start, async () => await reports.add(report('a'), address));
    await atTime(start + 365 * day, async () => {
      deepStrictEqual(texts(reports), []);
      await reports.add(report('b'), address);
      deepStrictEqual(texts(await openReports()), ['b']);
    });
    await atTime(start + day, async () => ok(texts(await openReports()).includes('a')));
    strictEqual(readdirSync(folder).length, 2);
  });

  it('are at most 3 of an address about a bot in a day: nobody silences the others', async () => {
    const reports = await openReports();
    await atTime(start, async () => {
      const junk = Array.from({ length: 5 }, async (_, i) => await reports.add(report(String(i)), address));
      strictEqual((await Promise.all(junk)).filter((one) => one !== null).length, 3);
      for (const other of ['192.0.2.2', '2001:db8::1', '2001:db8:0:1::1'])
        ok(await reports.add(report('real'), other), other);
      ok(await reports.add(report('of another bot', '2'), address));
    });
    await atTime(start + day, async () => ok(await reports.add(report('the next day'), address)));
  });

  it('are at most 30 of a network about all bots in a day', async () => {
    const reports = await openReports();
    const addressOf = (i: number): string => `2001:db8:7:${i}::1`;
    await atTime(start, async () => {
      for (let i = 0; i < 32; i++)
        strictEqual((await reports.add(report('junk', String(i)), addressOf(i))) !== null, i < 30);
      ok(await reports.add(report('real'), '2001:db8:8::1'));
    });
    await atTime(start + day, async () => ok(await reports.add(report('the next day'), addressOf(1))));
  });

  describe('are at most 1,000', () => {
    const write = (i: number, bot = '1'): void =>
      writeFileSync(join(folder, `${start + i}-${'0'.repeat(32)}`), JSON.stringify(report(String(i), bot)));
    beforeEach(() => mkdirSync(folder, { recursive: true }));

    it('the newest go of the network with the most, also where that is the one that is added', async () => {
      for (let i = 0; i < 990; i++) write(i, String(i));
      await atTime(start + day, async () => {
        const reports = await openReports();
        const real = await reports.add(report('real', '5000'), '192.0.2.2');
        const added: boolean[] = [];
        for (let i = 0; i < 30; i++)
          added.push((await reports.add(report('junk', String(6000 + i)), address)) !== null);
        deepStrictEqual(added.indexOf(false), 9);
        ok(await reports.add(report('also real', '5001'), '192.0.2.3'));
        const kept = reports.list();
        ok(kept.some(({ id }) => id === real?.id));
        strictEqual(kept.filter(({ text }) => text === 'junk').length, 8);
        deepStrictEqual([kept[0]?.text, kept.at(-1)?.text, kept.length], ['also real', '0', 1000]);
        strictEqual(readdirSync(folder).length, 1000);
      });
    });

    it('of those before a restart the newest go of the bot with the most', async () => {
      write(0, '2');
      for (let i = 1; i < 1002; i++) write(i, String(3 + (i % 50)));
      await atTime(start + day, async () => {
        const reports = await openReports();
        ok(await reports.add(report('one more', '3'), address));
        deepStrictEqual([reports.list().length, reports.list().at(-1)?.bot], [1000, '2']);
      });
    });
  });

  it('in a file that is not one are left out and left alone, and the log says so', async () => {
    mkdirSync(folder, { recursive: true });
    const name = (i: number): string => `${start + i}-${'a'.repeat(32)}`;
    const bad = [
      '{',
      '[]',
      JSON.stringify({ ...report('a'), bot: '../1' }),
      JSON.stringify({ ...report('a'), reason: 'constructor' }),
      JSON.stringify({ ...report('a'), text: 1 }),
      JSON.stringify({ ...report('a'), text: [] }),
      JSON.stringify({ ...report('a'), locale: '!' }),
      JSON.stringify(report('x'.repeat(1001))),
    ];
    for (const [i, text] of bad.entries()) writeFileSync(join(folder, name(i)), text);
    writeFileSync(join(folder, 'notes.json'), JSON.stringify(report('a')));
    const good = 'x'.repeat(1000);
    writeFileSync(join(folder, name(100)), JSON.stringify(report(good)));
    await atTime(start + day, async () => deepStrictEqual(texts(await openReports()), [good]));
    strictEqual(log.lines.length, bad.length);
    match(log.lines[0] ?? '', /^warn: \d+-a+ in .*reports is not a report: it is left out$/);
    strictEqual(readdirSync(folder).length, bad.length + 2);
  });

  it('that cannot be written are refused, and are not there', async () => {
    const reports = await openReports();
    rmSync(folder, { recursive: true });
    writeFileSync(folder, '');
    await rejects(reports.add(report('a'), address), isUnavailable);
    deepStrictEqual(reports.list(), []);
    rmSync(folder);
    ok(await reports.add(report('a'), address));
  });
});
