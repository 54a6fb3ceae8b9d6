import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { compareInvites, comparePages } from '../../../src/catalogue/changes/bot-changes.ts';
import { parsePages } from '../../../src/proposals/proposal.ts';
import { mainPage, pagePath, translation } from '../../support/sample.ts';

const parse = (keys: object, text?: string): ReturnType<typeof parsePages> =>
  parsePages(new Map([[pagePath('7'), mainPage({ ...keys }, text)]]));
const invite = 'https://discord.com/oauth2/authorize?scope=bot&client_id=';

describe('what changes in a bot', () => {
  it('is by field, what matters most to servers first, without the time that the service sets', () => {
    const before = parse({ created: 1, codehost: { owner: 'o', repo: 'r' }, trigger: { prefix: ['!'] } });
    const after = parse(
      {
        created: 2,
        edited: 3,
        codehost: { owner: 'o', repo: 's' },
        nsfw: true,
        website: 'https://x.example/',
      },
      'Other.',
    );
    const [page] = comparePages(before, after);
    strictEqual(page?.state, 'edited');
    deepStrictEqual(
      page?.fields.map(({ name, before: was, after: now }) => [name, was, now]),
      [
        ['nsfw', undefined, true],
        ['created', 1, 2],
        ['repo', 'r', 's'],
        ['prefix', ['!'], undefined],
        ['page', '# Homer\n\nThe page.', 'Other.'],
        ['website', undefined, 'https://x.example/'],
      ],
    );
  });

  it('shows a new page, and one that cannot be read, as it is', () => {
    const german = parsePages(new Map([[pagePath('7', 'de'), translation('Homer\u202e', 'Ja.')]]));
    const [page] = comparePages(parse({}), german);
    deepStrictEqual([page?.locale, page?.state, page?.fields[0]?.after], ['de', 'added', 'Homer\u202e']);
    const [broken] = comparePages(parse({}), parsePages(new Map([[pagePath('7'), '---\n{']])));
    strictEqual(
      broken?.fields.every(({ after }) => after === undefined),
      true,
    );
  });

  it('names a hundred fields, those that matter most among them', () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`key${i}`, i]));
    const [page] = comparePages(parse({}), parse({ ...many, nsfw: true, invite: `${invite}8` }));
    const names = page?.fields.map(({ name }) => name) ?? [];
    deepStrictEqual([names.length, ...names.slice(0, 3)], [100, 'invite', 'nsfw', 'key0']);
  });

  it('takes values of any kind', () => {
    const strange = parse({ invite: [{}], authors: 7, codehost: null, trigger: { a: { b: 1 } }, nsfw: 'x' });
    const [page] = comparePages(parse({}), strange);
    deepStrictEqual(page?.fields.find(({ name }) => name === 'a')?.after, { b: 1 });
    deepStrictEqual(compareInvites(parse({}), strange).added.groups, []);
  });

  it('names the permissions that come and go, and another bot', () => {
    const change = compareInvites(
      parse({ invite: `${invite}7&permissions=3072` }),
      parse({ invite: `${invite}7&permissions=2056` }),
    );
    strictEqual(change.added.administrator, true);
    deepStrictEqual(change.removed.groups, [
      { subject: 'messages', isHarmful: false, permissions: ['viewChannels'] },
    ]);
    strictEqual(change.isOtherBot, false);
    strictEqual(
      compareInvites(parse({ invite: `${invite}7` }), parse({ invite: `${invite}8` })).isOtherBot,
      true,
    );
    strictEqual(compareInvites([], parse({ invite: `${invite}8` })).isOtherBot, false);
  });
});
