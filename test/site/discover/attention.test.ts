import { deepEqual, equal, ok } from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { MutableBotIndex } from '../../../src/catalogue/store/bot-store.ts';
import {
  type Attention,
  type AttentionItem,
  type AttentionSources,
  createOwnAttention,
  listAttention,
} from '../../../src/site/discover/attention.ts';
import { noCountHistory, noCounts } from '../../support/counts.ts';
import { openCatalogue } from '../../support/live-catalogue.ts';
import { botId, mainPage, pagePath, translation } from '../../support/sample.ts';
import { sampleBot } from '../../support/sample-bot.ts';

const dayMs = 86_400_000;
const now = 20_000 * dayMs + 1;

const settings = { current: { inactiveDays: 30 } };
const blocked = { current: null };
const nothing = { settings, blocked, state: noCounts, countHistory: noCountHistory, images: null };

/** Returns the problems in a catalogue of these files. */
async function list(
  files: Readonly<Record<string, string>>,
  sources: Partial<AttentionSources> = {},
): Promise<Attention> {
  const { catalogue } = await openCatalogue(files);
  return await listAttention({ ...nothing, store: catalogue.store, ...sources }, new Map(), now);
}

function itemsOf({ groups }: Attention): readonly AttentionItem[] {
  return groups.flatMap(({ items }) => items);
}

/** Returns the page of a bot that does not resemble any other. */
function page(id: string, keys: Readonly<Record<string, unknown>> = {}, text?: string): string {
  return mainPage({ name: `Bot ${id}`, invite: `https://example.org/${id}`, ...keys }, text);
}

function toSubject(id: string): Pick<AttentionItem, 'bot' | 'name' | 'fixPath'> {
  return { bot: botId(id), name: `Bot ${id}`, fixPath: `/bots/${id}/edit` };
}

describe('what needs attention', () => {
  it('is a faulty file, once, with the form of its page where that is served', async () => {
    const broken = await openCatalogue({
      [pagePath('7')]: page('7'),
      [pagePath('7', 'de')]: translation('Sieben', 'Antwortet.'),
      [pagePath('7', 'fr')]: translation('', ''),
      [pagePath('8')]: mainPage({ category: 1, name: 2 }),
      'bots/stray.txt': 'x',
    });
    broken.write({ [pagePath('7', 'de')]: translation('', '') });
    broken.catalogue.look([pagePath('7')]);
    const { store } = broken.catalogue;
    const attention = await listAttention({ ...nothing, store }, new Map(), now);
    deepEqual(
      itemsOf(attention).map((item) => [item.kind, item.bot, item.name, item.fixPath, item.values['path']]),
      [
        ['faulty-file', '7', 'Bot 7', '/bots/7/edit?language=de', pagePath('7', 'de')],
        ['faulty-file', '7', 'Bot 7', null, pagePath('7', 'fr')],
        ['faulty-file', '8', null, null, pagePath('8')],
        ['faulty-file', null, null, null, 'bots/stray.txt'],
      ],
    );
  });

  it('is an image that fails, by the key that names it', async () => {
    const failure = { since: now - dayMs, message: 'has status 404' };
    const images = {
      avatar: 'https://a.example/avatar.png',
      cover: 'https://a.example/cover.png',
      preview: ['https://a.example/fine.png', 'https://a.example/1.png'],
    };
    const files = {
      [pagePath('7')]: page('7', { images }, '![Map](https://a.example/map.png)'),
      [pagePath('8')]: page('8'),
    };
    const { avatar, cover, preview } = images;
    const map = 'https://a.example/map.png';
    const failed = new Set([avatar, cover, preview[1], map, 'https://no.example/']);
    const attention = await list(files, {
      images: { failureOf: (url) => (failed.has(url) ? failure : undefined) },
    });
    deepEqual(
      itemsOf(attention),
      Object.entries({ avatar, cover, preview: preview[1], page: map }).map(([key, url]) => ({
        ...toSubject('7'),
        kind: 'image-failed',
        values: { key, url, ...failure },
      })),
    );
  });

  it('is a bot that has the name or the invite of an older one, once', async () => {
    const invite = 'https://discord.com/oauth2/authorize?client_id=1&permissions=';
    const attention = await list({
      [pagePath('1')]: page('1', { name: 'Rätsel Bot', created: 1 }),
      [pagePath('2')]: page('2', { name: 'RATSELBOT', created: 2 }),
      [pagePath('3')]: page('3', { invite: `${invite}8`, created: 9 }),
      [pagePath('4')]: page('4', { invite: `${invite}0&scope=bot`.replace('//', '//ptb.'), created: 3 }),
      [pagePath('5')]: page('5', { name: 'Both', invite: 'https://both.example/', created: 4 }),
      [pagePath('6')]: page('6', { name: '[both]', invite: 'https://both.example', created: 5 }),
    });
    const found = itemsOf(attention).map(({ bot, values }) => `${bot} ${values['same']} ${values['others']}`);
    deepEqual(found.toSorted(), ['2 name 1', '3 invite 4', '6 both 5']);
  });

  it('is a count that is too old, but no bot that never posted', async () => {
    const reported = new Map([
      [botId('7'), now - 31 * dayMs],
      [botId('8'), now - 30 * dayMs],
    ]);
    const files = { [pagePath('7')]: page('7'), [pagePath('8')]: page('8'), [pagePath('9')]: page('9') };
    const state = { reportedAt: (id: string) => reported.get(botId(id)) };
    deepEqual(itemsOf(await list(files, { state })), [
      { ...toSubject('7'), kind: 'no-count', values: { days: 31 } },
    ]);
    equal(itemsOf(await list(files, { state, settings: { current: { inactiveDays: 31 } } })).length, 0);
  });

  it('is a count that jumps from one day to the next, of a thousand servers or more', async () => {
    const series: Readonly<Record<string, readonly number[]>> = {
      '1': [100, 1000],
      '2': [99, 1000],
      '3': [11, 200],
      '4': [20_000, 1999, 2000],
      '5': [0, 1000],
      '6': [5000, 400, 5000],
      '7': [5000],
    };
    const countHistory: AttentionSources['countHistory'] = {
      ...noCountHistory,
      present: () => 20_000,
      counts: (id, from, to) => {
        deepEqual([from, to], [19_970, 20_000]);
        const counts = series[id] ?? [];
        return counts.map((count, i) => ({ period: 20_001 - counts.length + i, count }));
      },
    };
    const files = Object.keys(series).map((id) => [pagePath(id), page(id)]);
    const state = { reportedAt: () => now };
    deepEqual(
      itemsOf(await list(Object.fromEntries(files), { state, countHistory })).map(({ bot, values }) =>
        [bot, Number(values['since']) / dayMs, values['before'], values['after']].join(' '),
      ),
      ['2 20000 99 1000', '4 19999 20000 1999', '5 20000 0 1000', '6 20000 400 5000'],
    );
  });

  it('has at most 500 items of a kind, and their whole number, and lets others work meanwhile', async () => {
    const bots = new MutableBotIndex();
    for (let i = 0; i < 5000; i++) {
      const images = { avatar: `https://a.example/${i}`, cover: null, preview: [] };
      const invite = `https://discord.com/oauth2/authorize?client_id=${i}&permissions=8`;
      bots.set(sampleBot(String(1000 + i), { en: [`Bot ${i % 2500}`, 'Answers.'] }, { images, invite }));
    }
    const failure = { since: now, message: 'has status 404' };
    const failureOf = (url: string): typeof failure | undefined =>
      Number(url.split('/').at(-1)) < 1000 ? failure : undefined;
    const end = new AbortController();
    let rounds = 0;
    const sources = { ...nothing, store: { bots, faults: () => [] }, images: { failureOf } };
    const listing = listAttention(sources, new Map(), now).finally(() => end.abort());
    for (; !end.signal.aborted; await setImmediate()) rounds++;
    const { groups } = await listing;
    ok(rounds > 3, `${rounds} rounds of the event loop`);
    deepEqual(
      groups.filter(({ total }) => total > 0).map(({ kind, total, items }) => [kind, total, items.length]),
      [
        ['near-duplicate', 2500, 500],
        ['image-failed', 1000, 500],
      ],
    );
  });
});

describe('what owners can mend', () => {
  it('is a count that was not posted for a week, since that week was over', async () => {
    const time = Date.now();
    const times: Readonly<Record<string, number>> = { 7: time - 7 * dayMs, 8: time - 7 * dayMs + 60_000 };
    const { catalogue } = await openCatalogue(
      Object.fromEntries(['7', '8', '9'].map((id) => [pagePath(id), page(id)])),
    );
    const listOwn = createOwnAttention({ ...nothing, store: catalogue.store }, '/nowhere');
    const items = await listOwn(await catalogue.store.bots.sorted(), (id) => times[id]);
    deepEqual(
      items.map(({ kind, bot, values }) => [kind, bot, values['since']]),
      [['no-count', '7', time]],
    );
  });
});
