import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import type { Locale } from '../../src/bot/locale.ts';
import { parsePageFile, type PageFile } from '../../src/catalogue/page/page-file.ts';
import { noLimits, type PageLimits } from '../../src/catalogue/page/rules.ts';
import { checkProposal, findReviewedChanges } from '../../src/check/check-proposal.ts';
import { botId, homerKeys, mainPage, pagePath, translation } from '../support/sample.ts';

const id = botId('190519304972663312');
const path = pagePath(id);

/** The page files of a bot: locale → text. */
function files(texts: Readonly<Record<string, string>>): PageFile[] {
  return Object.entries(texts).map(([locale, text]) =>
    parsePageFile({ id, locale: locale as Locale }, Buffer.from(text)),
  );
}

/** `path rule severity` of each finding. */
function check(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
  limits: PageLimits = noLimits,
): string[] {
  return checkProposal(files(before), files(after), limits).map(
    ({ path, rule, severity }) => `${path} ${rule} ${severity}`,
  );
}

describe('the check of a proposal', () => {
  it('finds nothing in a sound edit, a new bot, a translation that is added, changed or removed', () => {
    const en = mainPage();
    const fr = translation('Homère', 'Répond.');
    deepStrictEqual(check({ en }, { en: mainPage({ name: 'Homer 2', edited: 1_750_000_000_000 }) }), []);
    deepStrictEqual(check({}, { en, fr }), []);
    deepStrictEqual(check({ en }, { en, fr }), []);
    deepStrictEqual(check({ en, fr }, { en, fr: translation('Homère', 'Sait tout.') }), []);
    deepStrictEqual(check({ en, fr }, { en }), []);
    deepStrictEqual(check({ en, fr }, { fr, en }), []);
  });

  it('warns of a new invite that opens a server, or adds another bot than the id and oauth say', () => {
    const page = (invite: string, more: object = {}): string => mainPage({ invite, ...more });
    const adds = (client: string): string =>
      `https://discord.com/oauth2/authorize?client_id=${client}&scope=bot`;
    for (const invite of ['https://discord.gg/abc', 'https://discord.com/invite/abc'])
      deepStrictEqual(check({}, { en: page(invite) }), [`${path} invite-server warning`]);
    deepStrictEqual(check({}, { en: page(adds('7')) }), [`${path} invite-other-bot warning`]);
    for (const fine of [
      page(adds(id)),
      page(adds('7'), { oauth: '7' }),
      page('https://discord.gg.example.org/a'),
    ])
      deepStrictEqual(check({}, { en: fine }), []);
    const more = page(`${adds('7')}&permissions=1`);
    deepStrictEqual(check({ en: page(adds('7')) }, { en: more }), [], 'it added that bot before');
    const en = page('https://discord.gg/abc');
    deepStrictEqual(check({ en }, { en: page('https://discord.gg/abc', { name: 'Homer 2' }) }), []);
  });

  it('finds every fault that it brings, in order of path and place', () => {
    deepStrictEqual(
      check(
        { en: mainPage() },
        {
          fr: translation('', 'Répond.'),
          en: mainPage({ description: 7, invite: 'http://example.org/' }),
          de: 'no page',
        },
      ),
      [
        `${pagePath(id, 'de')} opener error`,
        `${path} type error`,
        `${path} pattern error`,
        `${path} invite-changed notice`,
        `${pagePath(id, 'fr')} minLength error`,
      ],
    );
    deepStrictEqual(
      check({}, { en: translation('Homer', 'Answers.') }),
      Array.from({ length: 4 }, () => `${path} required error`),
    );
    deepStrictEqual(check({ en: mainPage() }, { en: mainPage(), fr: mainPage() }), [
      `${path} one-main-page error`,
      `${pagePath(id, 'fr')} one-main-page error`,
    ]);
  });

  it('finds what the settings of the catalogue do not allow', () => {
    const limits: PageLimits = { categories: ['fun', 'other'], languages: ['en' as Locale] };
    const fr = translation('Homère', 'Répond.');
    deepStrictEqual(check({ en: mainPage() }, { en: mainPage({ category: 'music' }), fr }, limits), [
      `${path} enum error`,
      `${pagePath(id, 'fr')} language error`,
    ]);
    deepStrictEqual(check({ en: mainPage(), fr }, { en: mainPage({ nsfw: true }), fr }, limits), []);
  });

  it('leaves out a fault that was there before, also where it moves, and no other', () => {
    const before = { en: mainPage({ support: 'none' }), fr: 'no page' };
    deepStrictEqual(check(before, before), []);
    deepStrictEqual(
      check(before, { ...before, en: mainPage({ codehost: { owner: 'a' }, support: 'none' }) }),
      [],
    );
    deepStrictEqual(check(before, { ...before, en: mainPage({ support: 'nowhere' }) }), [
      `${path} pattern error`,
    ]);
    deepStrictEqual(check(before, { ...before, en: mainPage({ support: 'none', website: 'none' }) }), [
      `${path} pattern error`,
    ]);
    deepStrictEqual(check(before, { ...before, de: 'no page' }), [`${pagePath(id, 'de')} opener error`]);
    deepStrictEqual(check(before, { en: mainPage() }), []);
  });

  it('refuses another time of listing, and points out verified, legacy and authors', () => {
    const after = mainPage({ created: 5, verified: true, legacy: true, authors: ['5'] });
    deepStrictEqual(check({ en: mainPage() }, { en: after }).toSorted(), [
      `${path} authors-changed notice`,
      `${path} created-stays error`,
      `${path} legacy-changed notice`,
      `${path} verified-changed notice`,
    ]);
    deepStrictEqual(check({}, { en: after }).toSorted(), [
      `${path} legacy-changed notice`,
      `${path} verified-changed notice`,
    ]);
  });

  it('refuses a new time in the future, and lets one that is listed be corrected', () => {
    const future = Date.now() + 2 * 86_400_000;
    const en = mainPage({ created: future, edited: future });
    deepStrictEqual(check({}, { en }), [`${path} future error`, `${path} future error`]);
    deepStrictEqual(check({ en: mainPage() }, { en: mainPage({ edited: future }) }), [
      `${path} future error`,
    ]);
    deepStrictEqual(check({ en }, { en: mainPage({ created: future, edited: future, nsfw: true }) }), []);
    deepStrictEqual(check({ en }, { en: mainPage() }), []);
    const [finding] = checkProposal([], files({ en }), noLimits);
    match(finding?.message ?? '', /^created is in the future: use the milliseconds since 1970, now \d+$/);
  });

  it('points out another bot in the invite, a new Administrator, and nsfw that is removed', () => {
    const link = (client: number, permissions: number): string =>
      mainPage({
        oauth: String(client),
        invite: `https://discord.com/oauth2/authorize?client_id=${client}&permissions=${permissions}`,
      });
    deepStrictEqual(check({ en: link(77, 0) }, { en: link(78, 8) }), [
      `${path} invite-changed notice`,
      `${path} administrator-added notice`,
    ]);
    deepStrictEqual(check({ en: link(77, 8) }, { en: link(77, 2056) }), []);
    deepStrictEqual(check({}, { en: link(77, 8) }), []);
    deepStrictEqual(check({ en: mainPage({ nsfw: true }) }, { en: mainPage() }), [
      `${path} nsfw-changed notice`,
    ]);
    deepStrictEqual(check({ en: mainPage() }, { en: mainPage({ nsfw: true }) }), []);
  });

  it('compares the main pages, whatever their languages', () => {
    const before = { en: mainPage(), fr: translation('Homère', 'Répond.') };
    const after = { en: translation('Homer', 'Answers.'), fr: mainPage({ created: 5, authors: ['5'] }) };
    deepStrictEqual(check(before, after).toSorted(), [
      `${pagePath(id, 'fr')} authors-changed notice`,
      `${pagePath(id, 'fr')} created-stays error`,
    ]);
  });

  it('compares the main pages also where a second one stays', () => {
    const fr = mainPage({ authors: ['5'] });
    deepStrictEqual(check({ en: mainPage(), fr }, { fr }), [`${pagePath(id, 'fr')} authors-changed notice`]);
    deepStrictEqual(findReviewedChanges(files({ en: mainPage(), fr }), files({ fr })), ['authors']);
  });

  it('warns where the main page as it was could not be read, and it changes', () => {
    deepStrictEqual(check({ en: 'no page' }, { en: mainPage() }), [`${path} former-page warning`]);
    deepStrictEqual(check({ en: mainPage({ created: 'x' }) }, { en: mainPage() }), [
      `${path} former-page warning`,
    ]);
    const odd = mainPage({ authors: 'me' });
    const fr = translation('Homère', 'Répond.');
    deepStrictEqual(check({ en: odd }, { en: odd, fr }), []);
    const [warning] = checkProposal(files({ en: odd }), files({ en: mainPage() }), noLimits);
    match(warning?.message ?? '', /^bots\/312\/\d+\.en\.md could not be read before this change: compare /);
    strictEqual(warning?.line, 5);
  });

  it('names the place of a finding', () => {
    const [finding] = checkProposal(
      files({ en: mainPage() }),
      files({ en: mainPage({ authors: ['5'] }) }),
      noLimits,
    );
    strictEqual(finding?.line, 5);
    strictEqual(
      finding.message,
      'authors adds "5" and removes "190519304972664832": authors can manage this bot. Only its present authors may ask for this',
    );
  });
});

describe('what is always reviewed', () => {
  const authorize = 'https://discord.com/oauth2/authorize?client_id=77&scope=bot';
  const find = (before: object, after: object): readonly string[] =>
    findReviewedChanges(files({ en: mainPage({ ...before }) }), files({ en: mainPage({ ...after }) }));

  it('is a change of the authors, but not of their order', () => {
    const authors = ['1', '2'];
    deepStrictEqual(find({ authors }, { authors: ['1', '2', '3'] }), ['authors']);
    deepStrictEqual(find({ authors }, { authors: ['1'] }), ['authors']);
    deepStrictEqual(find({ authors }, { authors: ['1', '3'] }), ['authors']);
    deepStrictEqual(find({ authors }, { authors: 'me' }), ['authors']);
    deepStrictEqual(find({ authors }, { authors: ['2', '1'] }), []);
  });

  for (const key of ['verified', 'legacy'])
    it(`is a change of ${key}, either way`, () => {
      deepStrictEqual(find({}, { [key]: true }), [key]);
      deepStrictEqual(find({ [key]: false }, { [key]: true }), [key]);
      deepStrictEqual(find({ [key]: true }, {}), [key]);
      deepStrictEqual(find({ [key]: false }, {}), []);
      deepStrictEqual(find({ [key]: true }, { [key]: true }), []);
    });

  it('is nsfw from true to false, or left out, but not to true', () => {
    deepStrictEqual(find({ nsfw: true }, { nsfw: false }), ['nsfw']);
    deepStrictEqual(find({ nsfw: true }, {}), ['nsfw']);
    deepStrictEqual(find({}, { nsfw: true }), []);
    deepStrictEqual(find({ nsfw: true }, { nsfw: true }), []);
  });

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
