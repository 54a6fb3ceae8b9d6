import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import type { AccountId } from '../../src/bot/commit-message.ts';
import {
  describeChange,
  mergeProposal,
  type MergedProposal,
  withEdited,
} from '../../src/proposals/merged-proposal.ts';
import type { Person } from '../../src/proposals/proposal.ts';
import { atTime } from '../support/at-time.ts';
import { openerOf } from '../support/opened.ts';
import { testRepository } from '../support/repository.ts';
import { botId, mainPage, pagePath, translation } from '../support/sample.ts';

const id = botId('190519304972663312');
const [english, german, french] = ['en', 'de', 'fr'].map((locale) => pagePath(id, locale)) as [
  string,
  string,
  string,
];
const words = translation('Homer', 'Beantwortet Fragen.');

type Texts = Readonly<Record<string, string>>;

function merged(before: Texts, changed: Texts): MergedProposal {
  return {
    before: new Map(Object.entries(before)),
    changed: new Map(Object.entries(changed)),
    conflicts: [],
  };
}

describe('a proposal merged with a commit of the branch', () => {
  /** Merges a proposal of `theirs` with `ours`; both began with one page. */
  async function merge(theirs: Texts, ours: Texts | null): Promise<MergedProposal> {
    const repository = testRepository({ [english]: mainPage(), [german]: words });
    const base = repository.git('rev-parse', 'HEAD');
    const version = repository.commit(theirs, 'Propose');
    repository.git('reset', '-q', '--hard', base);
    if (ours === null) repository.git('rm', '-q', english);
    const tip = ours !== null && Object.keys(ours).length === 0 ? base : repository.commit(ours ?? {});
    return await mergeProposal(await openerOf(repository.folder).open(), tip, { subject: id, base, version });
  }

  it('changes what the commit has not, of the files that the proposal changes', async () => {
    const nsfw = mainPage({ nsfw: true });
    const { before, changed, conflicts } = await merge({ [english]: nsfw, [french]: words }, {});
    deepStrictEqual([...before.keys()].toSorted(), [german, english]);
    deepStrictEqual(Object.fromEntries(changed), { [english]: nsfw, [french]: words });
    deepStrictEqual(conflicts, []);
    const both = await merge({ [english]: nsfw, [french]: words }, { [english]: nsfw, [german]: 'Other' });
    deepStrictEqual([...both.changed.keys()], [french]);
    strictEqual(both.before.get(german), 'Other');
    deepStrictEqual(both.conflicts, []);
  });

  it('has a conflict where the commit has removed the file', async () => {
    const nsfw = mainPage({ nsfw: true });
    const { before, changed, conflicts } = await merge({ [english]: nsfw }, null);
    deepStrictEqual([...before.keys()], [german]);
    deepStrictEqual([...changed], [[english, nsfw]]);
    deepStrictEqual(conflicts, ['file']);
  });
});

describe('the files of an accepted proposal', () => {
  const now = 1_800_000_000_000;
  const raise = async (before: Texts, changed: Texts): Promise<unknown> =>
    await atTime(now, async () => {
      const files = withEdited(id, merged(before, changed));
      return await Promise.resolve(
        [...files].map(([path, text]) => [path, Number(/"edited": (\d+)/.exec(text)?.[1])]),
      );
    });

  it('have the time of the edit in the main page, which is later than the one before', async () => {
    const before = { [english]: mainPage() };
    const nsfw = { [english]: mainPage({ nsfw: true }) };
    deepStrictEqual(await raise(before, nsfw), [[english, now]]);
    deepStrictEqual(await raise(before, { [german]: words }), [
      [german, Number.NaN],
      [english, now],
    ]);
    const future = { edited: now + 5 };
    deepStrictEqual(await raise({ [english]: mainPage(future) }, { [english]: mainPage(future) }), [
      [english, now + 6],
    ]);
    const created = { [english]: mainPage({ created: now + 7 }) };
    deepStrictEqual(await raise(created, created), [[english, now + 8]]);
    const odd = { [english]: mainPage({ edited: 'x' }) };
    deepStrictEqual(await raise(odd, odd), [[english, now]]);
  });

  it('are as they were proposed where the bot is new, has no main page, or they are of no bot', async () => {
    deepStrictEqual(await raise({}, { [english]: mainPage() }), [[english, Number.NaN]]);
    deepStrictEqual(await raise({ [german]: words }, { [french]: words }), [[french, Number.NaN]]);
    const { changed, ...others } = merged({ 'people/1.json': '{}' }, { 'people/1.json': '{"name": "A"}' });
    strictEqual(withEdited('profile-1', { changed, ...others }), changed);
  });
});

describe('the commit of an accepted proposal', () => {
  const person = (account: string): Person => ({ id: account as AccountId, name: 'Ann' });
  const en = { [english]: mainPage() };
  const changes = { [english]: mainPage({ name: 'Max' }), [german]: translation('Homer', 'Neu.') };
  for (const [title, before, changed, subject] of [
    ['a bot that is new', {}, en, `Add Homer (${id})`],
    ['keys', en, { [english]: mainPage({ nsfw: true, category: undefined }) }, 'Homer: category, nsfw'],
    ['the text of the page', en, { [english]: mainPage({}, 'Other.') }, 'Homer: page'],
    ['languages', { ...en, [german]: words }, { ...changes, [french]: words }, 'Max: name, de, fr'],
    ['the language of a page that was none', { [english]: 'no page' }, en, 'Homer: en'],
    ['no name where there is none', { [german]: words }, { [german]: '' }, ': de'],
  ] as const)
    it(`names ${title}`, () => {
      const message = describeChange({ subject: id, proposer: person('1') }, merged(before, changed), null);
      const update = subject.replace(/^(\w*):/, `Update $1 (${id}):`);
      strictEqual(message, `${update}\n\nBot: ${id}\nProposed-by: 1\n`);
    });

  it('names the files of a profile or a collection', () => {
    const files = { 'collections/fun.de.md': 'a', 'collections/fun.en.md': 'b' };
    const proposal = { subject: 'collection-fun', proposer: person('1') } as const;
    const describeFiles = (before: Texts): string =>
      describeChange(proposal, merged(before, files), person('2'));
    const end = 'collections/fun.de.md, collections/fun.en.md\n\nProposed-by: 1\nReviewed-by: 2\n';
    strictEqual(describeFiles({}), `Add ${end}`);
    strictEqual(describeFiles({ 'collections/fun.de.md': '' }), `Update ${end}`);
  });
});
