import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import type { Category } from '../../../schemas/types.ts';
import { MutableBotIndex } from '../../../src/catalogue/store/bot-store.ts';
import { BotSearch } from '../../../src/catalogue/search/bot-search.ts';
import { TimeSlice } from '../../../src/lib/time-slice.ts';
import type { QueryReading } from '../../../src/catalogue/search/run-search.ts';
import { eventually } from '../../support/eventually.ts';
import { readCases } from '../../support/fixture-lines.ts';
import { defaultNeeds } from '../../support/needs.ts';
import { botId } from '../../support/sample.ts';
import { sampleBot } from '../../support/sample-bot.ts';

type Bot = [
  name: string,
  description: string,
  page?: string,
  keys?: { readonly id?: string; readonly locale?: string; readonly category?: Category },
];

describe('a search', () => {
  let bots: MutableBotIndex;
  let search: BotSearch;
  beforeEach(() => {
    bots = new MutableBotIndex();
    const fail = (error: unknown): never => {
      throw error;
    };
    search = new BotSearch(bots, fail, defaultNeeds);
  });
  afterEach(() => search.close());

  /** Returns the ids of the found bots, best first, and the reading of the query. */
  const run = async (text: string): Promise<[ids: string[], reading: QueryReading]> =>
    await search.search(text, new TimeSlice(), async ({ parts, reading }) => {
      const found = parts.flatMap((part) => {
        const numbers = Array.from(part.found.bots.subarray(0, part.found.size));
        return numbers.map((number) => [part.score(number), part.segment.bot(number)] as const);
      });
      const sorted = found.toSorted(([a], [b]) => b - a);
      return [sorted.flatMap(([, bot]) => bot?.id ?? []), reading];
    });
  const found = async (text: string): Promise<string> => (await run(text))[0].join(' ');
  const best = async (text: string): Promise<string | undefined> => (await run(text))[0][0];
  const read = async (text: string): Promise<QueryReading> => (await run(text))[1];
  const add = (id: string, name: string, description: string, page = ''): void =>
    bots.set(sampleBot(id, { en: [name, description, page] }, { category: 'other' }));

  for (const { title, input, expected } of readCases('searches'))
    it(title, async () => {
      for (const [i, [name, description, page = '', keys = {}]] of (JSON.parse(input) as Bot[]).entries()) {
        const { id = String(i + 1), locale = 'en', category = 'other' } = keys;
        bots.set(sampleBot(id, { [locale]: [name, description, page] }, { category }));
      }
      for (const line of expected) {
        const [query = ''] = line.split(' → ');
        const [ids, { corrected, suggested, unmatched }] = await run(query);
        const more = [
          corrected === undefined ? '' : `, corrected to ${corrected}`,
          suggested === undefined ? '' : `, perhaps ${suggested}`,
          unmatched.length > 0 ? `, without ${unmatched.join(' ')}` : '',
        ];
        strictEqual(`${query} → ${ids.join(' ') || 'nothing'}${more.join('')}`, line);
      }
    });

  it('finds words of commands in every language, which count more than those of a page', async () => {
    const withCommands = (id: string, commands: object[], description = 'Answers.'): void =>
      bots.set({
        ...sampleBot(id, { en: ['A', description] }),
        commands: Buffer.from(JSON.stringify(commands)),
      });
    add('1', 'A', 'Answers.', 'A doughnut.');
    withCommands('2', [
      { name: 'x', options: [{ type: 1, name: 'doughnut', name_localizations: { de: 'krapfen' } }] },
    ]);
    withCommands('3', [], 'Answers with a doughnut.');
    strictEqual(await found('doughnut'), '3 2 1');
    strictEqual(await found('krapfen'), '2');
  });

  it('looks for other spellings of six words of a query, and for no others', async () => {
    const words = ['abacus', 'biscuit', 'camera', 'donkey', 'elephant', 'falcon', 'garden', 'hammer'];
    add('1', 'One', words.join(' '));
    const { corrected } = await read(words.map((word) => `${word}x`).join(' '));
    strictEqual(corrected, [...words.slice(0, 6), 'gardenx', 'hammerx'].join(' '));
  });

  it('looks for other forms of eight words of a query, and for no others', async () => {
    const words = ['abacus', 'biscuit', 'camera', 'donkey', 'elephant', 'falcon', 'garden', 'hammer'];
    add('1', 'One', `${words.join(' ')} island island`);
    deepStrictEqual((await read(`${words.join('s ')}s islands`)).unmatched, ['islands']);
    deepStrictEqual((await read(`${words.slice(1).join('s ')}s islands`)).unmatched, []);
  });

  it('looks for no forms of more than twice the letters', async () => {
    add('1', 'One', 'Usefulness.');
    add('2', 'Two', 'Useful.');
    strictEqual(await found('use'), '2');
  });

  it('knows a changed bot at once, and a removed one no more', async () => {
    for (let i = 1; i <= 40; i++) add(String(i), `Bot${i}`, 'Sells bread.');
    strictEqual((await found('bread')).split(' ').length, 40);
    add('7', 'Bakery', 'Sells doughnuts.');
    strictEqual(await found('doughnut'), '7');
    strictEqual((await found('bread')).split(' ').length, 39);
    bots.delete(botId('7'));
    strictEqual(await found('doughnuts'), '');
  });

  it('finds the same in an index that a thread has built, pages too, and through changes @slow', async () => {
    for (let i = 1; i <= 600; i++) add(String(i), `Name${i}`, `Counts to ${i}.`, `Sheep number${i} sleeps.`);
    strictEqual(await best('name171'), '171');
    await search.complete();
    strictEqual(await best('number23'), '23');
    add('171', 'Other', 'Changed.');
    strictEqual(await best('other'), '171');
    strictEqual((await found('name171')).split(' ').includes('171'), false);
    for (let i = 100; i < 400; i++) add(String(i), `Again${i}x`, 'Anew.');
    strictEqual(await best('again123x'), '123');
    await search.complete();
    add('1', 'Once', 'More.');
    strictEqual(await best('once'), '1');
    strictEqual((await found('anew')).split(' ').length, 300);
    strictEqual((await found('name101')).split(' ').includes('101'), false);
    strictEqual(await best('name599'), '599');
  });

  it('has its pages indexed by a thread that gives way to others', async () => {
    for (let i = 1; i <= 2000; i++)
      add(String(i), `Name${i}`, 'Counts.', `Sheep number${i} sleeps. `.repeat(40));
    await search.update();
    const niceness = (): number[] =>
      readdirSync('/proc/self/task').map((thread) => {
        const words = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')
          .replace(/^.*\) /s, '')
          .split(' ');
        return Number(words[16]) - getPriority();
      });
    await eventually(() => niceness().filter((lower) => lower > 0).length === 1);
    await search.complete();
  });

  it('is refused once it is closed', async () => {
    for (let i = 1; i <= 600; i++) add(String(i), `Name${i}`, 'Counts.');
    search.close();
    await rejects(search.search('counts', new TimeSlice(), async () => {}));
  });
});
