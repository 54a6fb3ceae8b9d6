import { defaultNeeds } from '../../support/needs.ts';
import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { MutableBotIndex } from '../../../src/catalogue/store/bot-index.ts';
import { BotSearch } from '../../../src/catalogue/search/bot-search.ts';
import { TimeSlice } from '../../../src/lib/time-slice.ts';
import { botId } from '../../support/sample.ts';
import type { QueryReading } from '../../../src/catalogue/search/run-search.ts';
import { sampleBot } from '../../support/sample-bot.ts';

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

  /** The ids that are found, the best first. */
  const found = async (text: string): Promise<string> => {
    const result = await search.search(text, new TimeSlice());
    const scored = Array.from(result.scores.subarray(0, result.size), (score, i) => {
      return [score, result.bot(i)?.id] as const;
    });
    return scored
      .toSorted(([a], [b]) => b - a)
      .map(([, id]) => id)
      .join(' ');
  };
  const best = async (text: string): Promise<string | undefined> => (await found(text)).split(' ')[0];
  const read = async (text: string): Promise<QueryReading> =>
    (await search.search(text, new TimeSlice())).reading;
  const add = (id: string, name: string, description: string, page = ''): void =>
    bots.set(sampleBot(id, { en: [name, description, page] }, { category: 'other' }));

  it('puts a whole name before the beginning of one, that before a category, a description and a page', async () => {
    add('1', 'Page', 'Nothing to see.', 'It does karaoke.');
    add('2', 'Description', 'It does karaoke.');
    bots.set(sampleBot('3', { en: ['Category', 'Lists.'] }, { category: 'music' }));
    add('4', 'Karaoke Night', 'Sings.');
    add('5', 'Karaoke', 'Sings.');
    strictEqual(await found('karaoke'), '5 4 2 1');
    strictEqual(await found('musica'), '3');
  });

  it('finds bots that have only some of the words, after those that have all', async () => {
    add('1', 'One', 'Plays songs.');
    add('2', 'Two', 'Plays chess and songs.');
    add('3', 'Three', 'Chess.');
    strictEqual(await best('a bot that plays chess'), '2');
    strictEqual((await found('chess songs')).split(' ').length, 3);
  });

  it('puts words that are neighbours in the query and in the text first', async () => {
    add('1', 'One', 'Voice of the people, channel of the news.');
    add('2', 'Two', 'A voice channel that is temporary.');
    strictEqual(await found('voice channel'), '2 1');
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

  it('finds a bot by its id first', async () => {
    add('190519304972664832', 'Homer', 'Answers.');
    add('2', 'Nine', 'Counts to 190519304972664832.');
    strictEqual(await found('<@190519304972664832>'), '190519304972664832 2');
  });

  it('says which words no bot has', async () => {
    add('1', 'Warden', 'Moderation for servers.');
    deepStrictEqual((await read('moderaton qqq zzz')).unmatched, ['qqq', 'zzz']);
    deepStrictEqual((await read('moderation')).unmatched, []);
  });

  it('looks for other spellings where fewer than three bots are found, and says so where none is', async () => {
    add('1', 'Warden', 'Moderation for servers.');
    strictEqual(await found('moderaton'), '1');
    strictEqual((await read('Moderaton, please')).corrected, 'moderation, please');
    strictEqual((await read('moderation')).corrected, undefined);
    strictEqual(await found('mdertn'), '');
    strictEqual(await found('wardn'), '1');
    strictEqual(await found('wrdn'), '');
  });

  it('corrects to the name of a category, or to the form of a word that most bots use', async () => {
    add('1', 'Warden', 'For moderators.');
    add('2', 'Two', 'Welcomes people with greetings.');
    strictEqual((await read('moderaton')).corrected, 'moderation');
    bots.set(sampleBot('3', { en: ['Sentinel', 'Keeps order.'] }, { category: 'moderation' }));
    strictEqual((await read('moderaton')).corrected, 'moderation');
    strictEqual(await best('moderaton'), '3');
    strictEqual((await read('greetins')).corrected, 'greetings');
    add('4', 'Four', 'A greeting.');
    strictEqual((await read('greetig')).corrected, 'greeting');
  });

  it('finds joined and split words by each other', async () => {
    add('1', 'Dank Memer', 'Reaction roles, e-mail and a chatbot.');
    for (const text of ['dankmemer', 'reactionroles', 'email', 'e mail', 'chat bot', 'dank-memer'])
      strictEqual(await found(text), '1', text);
  });

  it('finds a word that "bot" is joined to, and the known part of a word that nothing has', async () => {
    add('1', 'One', 'Plays music.');
    add('2', 'Two', 'Hands out roles.');
    strictEqual(await found('musicbot'), '1');
    strictEqual(await found('autorole'), '2');
  });

  it('corrects a word of seven letters with two errors where it is the only one', async () => {
    add('1', 'One', 'An economy for everyone.');
    strictEqual(await found('ecomony'), '1');
    strictEqual(await found('ecomony knitting'), '');
  });

  it('finds letters of a script without spaces that are not together, where nothing has them together', async () => {
    bots.set(sampleBot('1', { 'zh-CN': ['围棋馆', '在频道里下围棋。'] }));
    strictEqual(await found('下棋'), '1');
  });

  it('does not take a kana with a mark for one without', async () => {
    bots.set(sampleBot('1', { ja: ['ボット', '再生'] }));
    bots.set(sampleBot('2', { ja: ['ホット', '再生'] }));
    strictEqual(await found('ホット'), '2');
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

  it('is refused once it is closed', async () => {
    for (let i = 1; i <= 600; i++) add(String(i), `Name${i}`, 'Counts.');
    search.close();
    await rejects(search.search('counts', new TimeSlice()));
  });
});
