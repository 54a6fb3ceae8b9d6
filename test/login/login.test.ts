import { match, strictEqual } from 'node:assert/strict';
import { author, openShelf, type Shelf, tokenPath } from './shelf.ts';

describe('a login at a provider of OpenID Connect', () => {
  let shelf: Shelf;

  before(async () => {
    shelf = await openShelf();
  });

  it('leads back to the page it was begun on', async () => {
    const { page } = await shelf.loggedIn(author);
    strictEqual(page.url.href, shelf.baseUrl + tokenPath);
    strictEqual(page.status, 200);
    match(page.text, new RegExp(`Person ${author}`));
  });
});
