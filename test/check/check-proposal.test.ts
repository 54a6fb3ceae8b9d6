import { deepStrictEqual, match } from 'node:assert/strict';
import * as fc from 'fast-check';
import type { Locale } from '../../src/bot/locale.ts';
import type { PageFile } from '../../src/catalogue/page/page-file.ts';
import { noLimits, type PageLimits } from '../../src/catalogue/page/rules.ts';
import { checkProposal, findReviewedChanges } from '../../src/check/check-changes.ts';
import { readCases } from '../support/fixture-lines.ts';
import { type Pages, toFiles } from '../support/page-file.ts';
import { botId, mainPage } from '../support/sample.ts';

const id = botId('190519304972663312');
const future = Date.now() + 2 * 86_400_000;
const authorize = 'https://discord.com/oauth2/authorize?client_id=77&scope=bot';

function files(pages: Pages): PageFile[] {
  return toFiles(id, pages);
}

/** Reads `before → after` of a case. */
function parseChange(input: string): [before: PageFile[], after: PageFile[]] {
  const [before = '', after = ''] = input.replaceAll('"future"', String(future)).split(' → ');
  return [files(JSON.parse(before) as Pages), files(JSON.parse(after) as Pages)];
}

/** Returns `locale rule severity` of each finding. */
function check(before: PageFile[], after: PageFile[], limits: PageLimits = noLimits): string[] {
  return checkProposal(before, after, limits).map(
    ({ path, rule, severity }) => `${path.split('.')[1]} ${rule} ${severity}`,
  );
}

describe('the check of a proposal', () => {
  for (const { title, input, expected } of readCases('proposals'))
    it(`finds ${expected.join(', ') || 'nothing'} in ${title}`, () =>
      deepStrictEqual(check(...parseChange(input)), expected));

  it('finds that a page was too large to be read', () => {
    const large = files({ en: mainPage({}, 'x'.repeat(256 * 1024)) });
    deepStrictEqual(check(large, files({ en: {} })), ['en former-page warning']);
  });

  it('finds what the settings of the catalogue do not allow, where it is new', () => {
    const limits: PageLimits = { categories: ['fun', 'other'], languages: ['en' as Locale] };
    const fr = ['Homère', 'Répond.'] as const;
    const [one, both] = [files({ en: {} }), files({ en: {}, fr })];
    deepStrictEqual(check(one, files({ en: { category: 'music' }, fr }), limits), [
      'en enum error',
      'fr language error',
    ]);
    deepStrictEqual(check(both, files({ en: { nsfw: true }, fr }), limits), []);
  });

  const find = (input: string): string => {
    const [finding] = checkProposal(...parseChange(input), noLimits);
    return `${finding?.line} ${finding?.message}`;
  };

  for (const { input, expected } of readCases('proposal-messages'))
    it(`names the place of a finding, and what to do: ${input}`, () =>
      deepStrictEqual([find(input)], expected));

  it('names the time that is in the future of all clocks, and the file that could not be read', () => {
    match(find('{} → {"en": {"created": "future"}}'), /^9 created is in the future: .+, now \d+$/);
    const soon = { created: Date.now() + 60_000, edited: Date.now() + 14 * 3_600_000 };
    deepStrictEqual(check(files({}), files({ en: soon })), [], 'of other clocks and zones');
    const unread = find('{"en": {"authors": "me"}} → {"en": {}}');
    match(unread, /^5 bots\/312\/\d+\.en\.md could not be read before this change: compare /);
  });
});

describe('what is always reviewed', () => {
  for (const { input, expected } of readCases('reviewed-changes'))
    it(`is ${expected.join() || 'nothing'} of ${input}`, () =>
      deepStrictEqual(findReviewedChanges(...parseChange(input)), expected));

  const reviewed = fc.record(
    {
      authors: fc.uniqueArray(fc.constantFrom('1', '2', '3'), { minLength: 1 }),
      verified: fc.boolean(),
      legacy: fc.boolean(),
      nsfw: fc.boolean(),
      permissions: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    },
    { noNullPrototype: true },
  );
  type Reviewed = typeof reviewed extends fc.Arbitrary<infer T> ? T : never;
  const others = fc.record(
    {
      name: fc.constantFrom('Homer', 'Marge'),
      nsfw: fc.constant(true),
      trigger: fc.constantFrom({}, { customisable: true }),
    },
    { requiredKeys: ['name'], noNullPrototype: true },
  );
  const keysOf = ({ permissions, ...keys }: Reviewed): Record<string, unknown> => ({
    ...keys,
    invite: `${authorize}&permissions=${permissions}`,
  });

  it('is nothing where the pages are equal in these keys, whatever else changes', () => {
    fc.assert(
      fc.property(reviewed, others, fc.string({ unit: 'grapheme' }), (keys, more, text) => {
        const before = files({ en: keysOf(keys) });
        deepStrictEqual(findReviewedChanges(before, before), []);
        const after = files({ fr: ['Homère', text], en: mainPage({ ...keysOf(keys), ...more }, text) });
        deepStrictEqual(findReviewedChanges(before, after), []);
      }),
    );
  });

  it('is each key that changes, and no other, by the same rules as the findings of the check', () => {
    const pointedOut: readonly string[] = ['authors', 'verified', 'legacy', 'nsfw'];
    fc.assert(
      fc.property(reviewed, reviewed, (a, b) => {
        const expected = [
          ...(a.authors.toSorted().join(' ') === b.authors.toSorted().join(' ') ? [] : ['authors']),
          ...(a.verified === b.verified ? [] : ['verified']),
          ...(a.legacy === b.legacy ? [] : ['legacy']),
          ...(a.nsfw && !b.nsfw ? ['nsfw'] : []),
          ...(a.permissions === b.permissions ? [] : ['invite']),
        ];
        const [before = [], after = []] = [a, b].map((keys) => files({ en: keysOf(keys) }));
        deepStrictEqual(findReviewedChanges(before, after), expected);
        const notices = checkProposal(before, after, noLimits).map(({ rule }) =>
          rule.replace('-changed', ''),
        );
        deepStrictEqual(
          notices.filter((rule) => pointedOut.includes(rule)).toSorted(),
          expected.filter((key) => pointedOut.includes(key)).toSorted(),
        );
      }),
    );
  });
});
