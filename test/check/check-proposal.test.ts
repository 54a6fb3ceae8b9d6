import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import type { Locale } from '../../src/bot/locale.ts';
import { parsePageFile, type PageFile } from '../../src/catalogue/page/page-file.ts';
import { noLimits, type PageLimits } from '../../src/catalogue/page/rules.ts';
import { checkProposal, findReviewedChanges } from '../../src/check/check-proposal.ts';
import { botId, homerKeys, mainPage, translation } from '../support/sample.ts';

const id = botId('190519304972663312');

/** Locale → text of a page of a bot. */
type Texts = Readonly<Record<string, string>>;

function files(texts: Texts): PageFile[] {
  return Object.entries(texts).map(([locale, text]) =>
    parsePageFile({ id, locale: locale as Locale }, Buffer.from(text)),
  );
}

/** Returns `locale rule severity` of each finding. */
function check(before: Texts, after: Texts, limits: PageLimits = noLimits): string[] {
  return checkProposal(files(before), files(after), limits).map(
    ({ path, rule, severity }) => `${path.split('.')[1]} ${rule} ${severity}`,
  );
}

const en = mainPage();
const fr = translation('Homère', 'Répond.');
const future = Date.now() + 2 * 86_400_000;
const oauth = (client: number | string, permissions = 0): string =>
  `https://discord.com/oauth2/authorize?client_id=${client}&scope=bot&permissions=${permissions}`;
const invites = (invite: string, more: object = {}): Texts => ({ en: mainPage({ invite, ...more }) });
const adds = (client: number, permissions: number): Texts =>
  invites(oauth(client, permissions), { oauth: String(client) });
const limits: PageLimits = { categories: ['fun', 'other'], languages: ['en' as Locale] };
const all = { created: 5, verified: true, legacy: true, authors: ['5'] };
const odd = mainPage({ authors: 'me' });
const faulty = { en: mainPage({ support: 'none' }), fr: 'no page' };

/** A change of a bot, and what is found, in order of path and place. */
const changes: readonly (readonly [what: string, before: Texts, after: Texts, ...found: string[]])[] = [
  ['an edit', { en }, { en: mainPage({ name: 'Homer 2', edited: 1_750_000_000_000 }) }],
  ['a new bot', {}, { en, fr }],
  ['a translation that is added', { en }, { en, fr }],
  ['a translation that changes', { en, fr }, { en, fr: translation('Homère', 'Sait tout.') }],
  ['a translation that is removed', { en, fr }, { en }],
  ['another order', { en, fr }, { fr, en }],
  ['an invite to a server', {}, invites('https://discord.gg/abc'), 'en invite-server warning'],
  ['a long one', {}, invites('https://discord.com/invite/abc'), 'en invite-server warning'],
  ['a name that begins alike', {}, invites('https://discord.gg.example.org/a')],
  [
    'an invite that was there',
    invites('https://discord.gg/a'),
    invites('https://discord.gg/a', { name: 'B' }),
  ],
  ['an invite of another bot', {}, invites(oauth('7')), 'en invite-other-bot warning'],
  ['an invite of the bot', {}, invites(oauth(id))],
  ['an invite of its client', {}, invites(oauth('7'), { oauth: '7' })],
  ['an invite of the bot as before', invites(oauth(7)), invites(oauth(7, 1))],
  [
    'faults of several files',
    { en },
    {
      fr: translation('', 'Répond.'),
      en: mainPage({ description: 7, invite: 'http://example.org/' }),
      de: 'no page',
    },
    'de opener error',
    'en type error',
    'en pattern error',
    'en invite-changed notice',
    'fr minLength error',
  ],
  [
    'a bot without a main page',
    {},
    { en: translation('Homer', 'Answers.') },
    ...Array.from({ length: 4 }, () => 'en required error'),
  ],
  ['two main pages', { en }, { en, fr: en }, 'en one-main-page error', 'fr one-main-page error'],
  ['faults that were there', faulty, faulty],
  ['one that moves', faulty, { ...faulty, en: mainPage({ codehost: { owner: 'a' }, support: 'none' }) }],
  ['another value', faulty, { ...faulty, en: mainPage({ support: 'nowhere' }) }, 'en pattern error'],
  [
    'the same in another key',
    faulty,
    { ...faulty, en: mainPage({ support: 'none', website: 'none' }) },
    'en pattern error',
  ],
  ['the same in another file', faulty, { ...faulty, de: 'no page' }, 'de opener error'],
  ['faults that are mended', faulty, { en }],
  [
    'what maintainers decide',
    { en },
    { en: mainPage(all) },
    'en authors-changed notice',
    'en created-stays error',
    'en verified-changed notice',
    'en legacy-changed notice',
  ],
  [
    'the same of a new bot',
    {},
    { en: mainPage(all) },
    'en verified-changed notice',
    'en legacy-changed notice',
  ],
  [
    'times in the future',
    {},
    { en: mainPage({ created: future, edited: future }) },
    'en future error',
    'en future error',
  ],
  ['another time', { en }, { en: mainPage({ edited: future }) }, 'en future error'],
  [
    'times that stay',
    { en: mainPage({ created: future, edited: future }) },
    { en: mainPage({ created: future, edited: future, nsfw: true }) },
  ],
  ['times that are corrected', { en: mainPage({ created: future, edited: future }) }, { en }],
  [
    'another bot, as Administrator',
    adds(77, 0),
    adds(78, 8),
    'en invite-changed notice',
    'en administrator-added notice',
  ],
  ['an Administrator as before', adds(77, 8), adds(77, 2056)],
  ['an Administrator of a new bot', {}, adds(77, 8)],
  ['nsfw that is removed', { en: mainPage({ nsfw: true }) }, { en }, 'en nsfw-changed notice'],
  ['nsfw that is set', { en }, { en: mainPage({ nsfw: true }) }],
  [
    'a main page in another language',
    { en, fr },
    { en: translation('Homer', 'Answers.'), fr: mainPage({ created: 5, authors: ['5'] }) },
    'fr authors-changed notice',
    'fr created-stays error',
  ],
  [
    'a second main page that stays',
    { en, fr: odd },
    { fr: mainPage({ authors: ['5'] }) },
    'fr authors-changed notice',
  ],
  ['a page that could not be read', { en: 'no page' }, { en }, 'en former-page warning'],
  ['one in which a key could not', { en: mainPage({ created: 'x' }) }, { en }, 'en former-page warning'],
  ['one that was too large', { en: mainPage({}, 'x'.repeat(256 * 1024)) }, { en }, 'en former-page warning'],
  ['one that stays', { en: odd }, { en: odd, fr }],
  ['one beside a sound main page', { en, fr: 'no page' }, { en: mainPage({ nsfw: true }), fr: 'no page' }],
  ['a bot that is removed', { en, fr }, {}, 'en bot-removed notice'],
  ['one that could not be read', { de: translation('A', 'B'), en: 'no page' }, {}, 'en bot-removed notice'],
];

describe('the check of a proposal', () => {
  for (const [what, before, after, ...found] of changes)
    it(`finds ${found.length > 0 ? found.join(', ') : 'nothing'} in ${what}`, () =>
      deepStrictEqual(check(before, after), found));

  it('finds what the settings of the catalogue do not allow, where it is new', () => {
    const found = ['en enum error', 'fr language error'];
    deepStrictEqual(check({ en }, { en: mainPage({ category: 'music' }), fr }, limits), found);
    deepStrictEqual(check({ en, fr }, { en: mainPage({ nsfw: true }), fr }, limits), []);
  });

  it('names the place of a finding, and what to do', () => {
    const find = (before: Texts, after: Texts): string => {
      const [finding] = checkProposal(files(before), files(after), noLimits);
      return `${finding?.line} ${finding?.message}`;
    };
    for (const [was, now, change] of [
      ['4', '4 5 6', 'adds "5", "6"'],
      ['4 5 6', '6 4', 'removes "5"'],
      ['6 4', '7 4', 'adds "7" and removes "6"'],
    ] as const) {
      const [before, after] = [was, now].map((ids) => ({ en: mainPage({ authors: ids.split(' ') }) }));
      const rest = 'authors can manage this bot. Only its present authors may ask for this';
      strictEqual(find(before ?? {}, after ?? {}), `5 authors ${change}: ${rest}`);
    }
    match(find({}, { en: mainPage({ created: future }) }), /^9 created is in the future: .+, now \d+$/);
    match(
      find({ en: odd }, { en }),
      /^5 bots\/312\/\d+\.en\.md could not be read before this change: compare /,
    );
  });
});

describe('what is always reviewed', () => {
  const authorize = 'https://discord.com/oauth2/authorize?client_id=77&scope=bot';
  const find = (before: object, after: object): readonly string[] =>
    findReviewedChanges(files({ en: mainPage({ ...before }) }), files({ en: mainPage({ ...after }) }));

  const [verified, legacy, nsfw, authors] = [true, true, true, ['1', '2']];
  const edits: readonly (readonly [before: object, after: object, ...keys: string[]])[] = [
    [{ authors }, { authors: ['1', '2', '3'] }, 'authors'],
    [{ authors }, { authors: ['1'] }, 'authors'],
    [{ authors }, { authors: ['1', '3'] }, 'authors'],
    [{ authors }, { authors: 'me' }, 'authors'],
    [{ authors }, { authors: ['2', '1'] }],
    [{}, { verified }, 'verified'],
    [{ verified: false }, { verified, legacy }, 'verified', 'legacy'],
    [{ verified, legacy }, {}, 'verified', 'legacy'],
    [{ legacy }, { legacy: false }, 'legacy'],
    [{ verified: false, legacy: false }, {}],
    [
      { verified, legacy },
      { verified, legacy },
    ],
    [{ nsfw }, { nsfw: false }, 'nsfw'],
    [{ nsfw }, {}, 'nsfw'],
    [{}, { nsfw }],
    [{ nsfw }, { nsfw }],
  ];
  for (const [before, after, ...keys] of edits)
    it(`is ${keys.join() || 'nothing'} from ${JSON.stringify(before)} to ${JSON.stringify(after)}`, () =>
      deepStrictEqual(find(before, after), keys));

  it('is an invite that adds another bot or asks for other permissions, but not another spelling', () => {
    const invite = `${authorize}&permissions=3072`;
    for (const other of [
      `${authorize}&permissions=8`,
      authorize,
      invite.replace('77', '78'),
      invite.replace('scope=bot', 'scope=bot+email'),
      'https://example.org/invite',
    ])
      deepStrictEqual(find({ invite }, { invite: other }), ['invite'], other);
    const spelled = 'https://discordapp.com/api/oauth2/authorize?permissions=3072&scope=bot&client_id=77';
    deepStrictEqual(find({ invite }, { invite: spelled }), []);
    deepStrictEqual(find({ invite: 'https://example.org/a' }, { invite: 'https://example.org/b' }), [
      'invite',
    ]);
    deepStrictEqual(find({ invite }, { invite: null }), ['invite']);
  });

  it('is no other key, nor a new bot', () => {
    const more = {
      name: 'Homer 2',
      category: 'music',
      website: 'https://example.org/',
      edited: 1_800_000_000_000,
      trigger: { prefix: ['!'] },
    };
    deepStrictEqual(find({}, more), []);
    deepStrictEqual(findReviewedChanges([], files({ en: mainPage({ verified: true }) })), []);
    deepStrictEqual(
      findReviewedChanges(
        files({ en: mainPage() }),
        files({ en: mainPage(), fr: translation('Homère', 'Répond.') }),
      ),
      [],
    );
  });

  it('is found in the main page, whatever its language', () => {
    const before = files({ en: mainPage(), fr: translation('Homère', 'Répond.') });
    const after = files({ en: translation('Homer', 'Answers.'), fr: mainPage({ authors: ['5'] }) });
    deepStrictEqual(findReviewedChanges(before, after), ['authors']);
  });

  it('is authors and invite, and what was set, where one of the main pages cannot be read', () => {
    const set = files({ en: mainPage({ verified: true, nsfw: true }) });
    const broken = files({ en: 'no page' });
    deepStrictEqual(findReviewedChanges(broken, set), ['authors', 'verified', 'invite']);
    deepStrictEqual(findReviewedChanges(set, broken), ['authors', 'verified', 'nsfw', 'invite']);
    deepStrictEqual(findReviewedChanges(set, files({ en: translation('Homer', 'Answers.') })), [
      'authors',
      'verified',
      'nsfw',
      'invite',
    ]);
  });

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
        const before = files({ en: mainPage(keysOf(keys)) });
        deepStrictEqual(findReviewedChanges(before, before), []);
        const after = files({
          fr: translation('Homère', text),
          en: mainPage({ ...keysOf(keys), ...more }, text),
        });
        deepStrictEqual(findReviewedChanges(before, after), []);
      }),
    );
  });

  it('is each key that changes, and no other', () => {
    fc.assert(
      fc.property(reviewed, reviewed, (a, b) => {
        const expected = [
          ...(a.authors.toSorted().join(' ') === b.authors.toSorted().join(' ') ? [] : ['authors']),
          ...(a.verified === b.verified ? [] : ['verified']),
          ...(a.legacy === b.legacy ? [] : ['legacy']),
          ...(a.nsfw && !b.nsfw ? ['nsfw'] : []),
          ...(a.permissions === b.permissions ? [] : ['invite']),
        ];
        deepStrictEqual(find(keysOf(a), keysOf(b)), expected);
      }),
    );
  });

  it('is found by the same rules as the findings of the check: authors, verified, legacy and nsfw', () => {
    const pointedOut = new Set<string>(['authors', 'verified', 'legacy', 'nsfw']);
    fc.assert(
      fc.property(reviewed, reviewed, (a, b) => {
        const [before, after] = [a, b].map((keys) =>
          files({ en: mainPage({ ...homerKeys, ...keysOf(keys) }) }),
        );
        const notices = checkProposal(before ?? [], after ?? [], noLimits)
          .map(({ rule }) => rule.replace('-changed', ''))
          .filter((rule) => pointedOut.has(rule));
        const found = findReviewedChanges(before ?? [], after ?? []).filter((key) => pointedOut.has(key));
        deepStrictEqual(notices.toSorted(), found.toSorted());
      }),
    );
  });
});
