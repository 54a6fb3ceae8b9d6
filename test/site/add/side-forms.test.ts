import { deepStrictEqual, doesNotMatch, match, strictEqual } from 'node:assert/strict';
import { readFormFields } from '../../support/form-fields.ts';
import { author, homer, type LoginSite, openLoginSite, stranger } from '../../support/login-site.ts';
import { collection, profile } from '../../support/side-files.ts';
import { type Page, Visitor } from '../../support/visitor.ts';

const bart = '190519304972664999';
const small = 'collections/small.en.md';

describe('the forms of what is beside bots/', () => {
  let site: LoginSite;
  before(async () => {
    const proposals = { authors: 'publish', others: 'review' };
    site = await openLoginSite({
      bots: [homer, bart],
      files: {
        'botshelf.json': JSON.stringify({ maintainers: ['42'], proposals }),
        [small]: collection({ bots: [homer, bart] }),
      },
    });
  });

  const press = async (visitor: Visitor, page: Page, path: string, more: object): Promise<Page> =>
    await visitor.press(page, path, { ...readFormFields(page.text), ...more });
  const read = (ref: string, path: string): string => site.repo.git('show', `${ref}:${path}`);

  it('name an account after a review, and change what it says at once where authors publish @slow', async () => {
    const path = `people/${author}.json`;
    const { visitor, page } = await site.loggedIn(author, '/my-bots/name');
    doesNotMatch(page.text, /Note for the reviewers/);
    const empty = await press(visitor, page, '/my-bots/name/send', { name: ' ' });
    match(empty.text, /Enter your name on one line/);
    const typed = { name: 'Homer J.', website: 'example.org', description: 'Bakes.' };
    const sent = await press(visitor, page, '/my-bots/name/send', typed);
    strictEqual(sent.url.pathname, `/proposals/profile-${author}`);
    const reviewPath = `/review/profile-${author}/${author}`;
    const { visitor: reviewer, page: review } = await site.loggedIn('42', reviewPath);
    const [, version = ''] = /name="version" value="(\w+)"/.exec(review.text) ?? [];
    await reviewer.press(review, reviewPath, { decision: 'accepted', version });
    const named = { website: 'https://example.org', description: { en: 'Bakes.' } };
    strictEqual(read('main', path), profile({ name: 'Homer J.', ...named }).trim());
    strictEqual(site.repo.status(), '');
    const again = await visitor.go(`${site.baseUrl}/my-bots/name?locale=de`);
    const german = { description: 'Backt.', website: '' };
    const published = await press(visitor, again, '/my-bots/name/send?locale=de', german);
    match(published.text, new RegExp(`<a href="/authors/${author}(?:\\?locale=de)?">`));
    const both = { name: 'Homer J.', website: null, description: { en: 'Bakes.', de: 'Backt.' } };
    deepStrictEqual(JSON.parse(read('main', path)), both);
    const last = await visitor.go(`${site.baseUrl}/my-bots/name?locale=de`);
    await press(visitor, last, '/my-bots/name/send?locale=de', { description: '' });
    deepStrictEqual(JSON.parse(read('main', path)).description, { en: 'Bakes.' });
  });

  it('ask who is not logged in to log in', async () => {
    const page = await new Visitor().go(`${site.baseUrl}/my-bots/name`);
    match(page.text, /Log in/);
    doesNotMatch(page.text, /name="website"/);
  });

  it('propose a collection, which a maintainer accepts, and say what is wrong with one @slow', async () => {
    const { visitor, page } = await site.loggedIn(stranger, '/add/collection');
    const wrong = { collection: 'Fun Bots', locale: 'en', title: 'Fun', description: 'To laugh.' };
    const refused = await press(visitor, page, '/add/collection/send', { ...wrong, bots: `${homer} 1` });
    match(refused.text, /Enter lower-case letters, digits and hyphens/);
    match(refused.text, /Not listed here: <bdi>1<\/bdi>\./);
    const taken = await press(visitor, page, '/add/collection', {
      ...wrong,
      collection: 'small',
      bots: homer,
    });
    match(taken.text, /There is a collection of this name/);
    match(taken.text, /Enter the IDs of 2 to 30 bots/);
    const right = { ...wrong, collection: 'fun', bots: `${bart} ${homer}`, page: 'Ha.' };
    const sent = await press(visitor, page, '/add/collection/send', right);
    strictEqual(sent.url.pathname, '/proposals/collection-fun');
    const ref = `refs/botshelf/proposals/collection-fun/${stranger}`;
    const keys = { title: 'Fun', description: 'To laugh.', bots: [bart, homer] };
    strictEqual(read(ref, 'collections/fun.en.md'), collection(keys, 'Ha.').trim());
    match(sent.text, /href="\/add\/collection\?proposal=collections%2Ffun\.en\.md"/);
    const again = await visitor.go(`${site.baseUrl}/add/collection?proposal=collections/fun.en.md`);
    strictEqual(readFormFields(again.text)['bots'], `${bart} ${homer}`);
    const reviewer = (await site.loggedIn('42', `/review/collection-fun/${stranger}`)).visitor;
    const review = await reviewer.go(`${site.baseUrl}/review/collection-fun/${stranger}`);
    match(review.text, /<bdi>Fun<\/bdi>/);
    const [, version = ''] = /name="version" value="(\w+)"/.exec(review.text) ?? [];
    const done = await reviewer.press(review, review.url.pathname, { decision: 'accepted', version });
    strictEqual(done.status, 200);
    match(read('main', 'collections/fun.en.md'), /"title": "Fun"/);
  });

  it('edit a collection and translate it', async () => {
    const { visitor, page } = await site.loggedIn(stranger, '/collections/small/edit');
    await press(visitor, page, '/collections/small/edit/send', { title: 'For tiny servers' });
    const form = await visitor.go(`${site.baseUrl}/collections/small/translate`);
    const german = { locale: 'de', title: 'Für kleine Server', description: 'Ohne Einrichtung.' };
    await press(visitor, form, '/collections/small/translate/send', german);
    const ref = `refs/botshelf/proposals/collection-small/${stranger}`;
    match(read(ref, small), /"title": "For tiny servers"/);
    strictEqual(read(ref, 'collections/small.de.md'), collection({ ...german, locale: undefined }).trim());
    strictEqual((await visitor.go(`${site.baseUrl}/collections/none/edit`)).status, 404);
  });
});
