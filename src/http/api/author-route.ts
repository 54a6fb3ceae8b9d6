import type { Router } from '@koa/router';
import { parseAccountId } from '../../bot/account.ts';
import type { AuthorAnswer } from '../../bot/schema-types.ts';
import type { Author, AuthorIndex } from '../../catalogue/lists/authors.ts';
import type { Current } from '../../lib/current-cache.ts';
import { ProblemError } from '../problem.ts';
import { createDocument, send } from '../representation.ts';
import { refuseQuery } from './read-routes.ts';

/** Adds the read of an author: what the account is called, and its bots. */
export function addAuthorRoute(router: Router, authors: AuthorIndex): void {
  router.get('/api/v2/authors/:id', refuseQuery, async (ctx) => {
    const { id, profile, bots, since, current } = await findKnownAuthor(authors, ctx.params['id'] ?? '');
    const { name = null, website = null, description = {} } = profile ?? {};
    const answer: AuthorAnswer = { id, name, website, description, bots: bots.map((bot) => bot.id), since };
    await send(ctx, { ...createDocument('application/json', Buffer.from(JSON.stringify(answer))), current });
  });
}

/**
 * Returns the author that a path names.
 * @throws {ProblemError} not-found
 */
export async function findKnownAuthor(authors: AuthorIndex, text: string): Promise<Author & Current> {
  const id = parseAccountId(text);
  const author = id && (await authors.find(id));
  if (author && (author.profile || author.bots.length > 0)) return author;
  const quoted = JSON.stringify(text.slice(0, 60));
  throw new ProblemError('not-found', `there is no author ${quoted}: send the account of a listed bot`);
}
