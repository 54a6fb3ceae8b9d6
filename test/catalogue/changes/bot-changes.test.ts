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
    const more = { nsfw: true, website: 'https://x.example/' };
    const after = parse({ created: 2, edited: 3, codehost: { owner: 'o', repo: 's' }, ...more }, 'Other.');
    const [page] = comparePages(before, after);
    strictEqual(page?.state, 'edited');
    const changes = page?.fields.map(({ name, before: was, after: now }) => JSON.stringify([name, was, now]));
    deepStrictEqual(changes, [
      '["nsfw",null,true]',
      '["created",1,2]',
      '["repo","r","s"]',
      '["prefix",["!"],null]',
      '["page","# Homer\\n\\nThe page.","Other."]',
      '["website",null,"https://x.example/"]',
    ]);
  });

  it('shows a new page, and one that cannot be read, as it is', () => {
    const german = parsePages(new Map([[pagePath('7', 'de'), translation('Homer\u202e', 'Ja.')]]));
    const [page] = comparePages(parse({}), german);
    deepStrictEqual([page?.locale, page?.state, page?.fields[0]?.after], ['de', 'added', 'Homer\u202e']);
    const [broken] = comparePages(parse({}), parsePages(new Map([[pagePath('7'), '---\n{']])));
    for (const { after, name } of broken?.fields ?? []) strictEqual(after, undefined, name);
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
    const compare = (was: string, now: string): ReturnType<typeof compareInvites> =>
      compareInvites(parse({ invite: invite + was }), parse({ invite: invite + now }));
    const { added, removed, isOtherBot } = compare('7&permissions=3072', '7&permissions=2056');
    const groups = [{ subject: 'messages', isHarmful: false, permissions: ['viewChannels'] }];
    deepStrictEqual([added.administrator, removed.groups, isOtherBot], [true, groups, false]);
    strictEqual(compare('7', '8').isOtherBot, true);
    strictEqual(compareInvites([], parse({ invite: `${invite}8` })).isOtherBot, false);
  });
});
