import type { Router } from '@koa/router';
import { createUnknownBotError } from '../../bot/errors.ts';
import type { BotId } from '../../bot/id.ts';
import { toCanonicalLocale } from '../../bot/locale.ts';
import { formatPlace, validate } from '../../catalogue/page/fault.ts';
import { parsePage } from '../../catalogue/page/page.ts';
import { quoteValue } from '../../lib/text.ts';
import { ProposalError, type SentPage, toProposalPath } from '../../proposals/proposal.ts';
import type { Proposals } from '../../proposals/proposals.ts';
import { ProblemError, type ProblemDetail } from '../problem.ts';
import type { BodyRules } from '../request.ts';
import { byteOrderMark, type PostOptions, readPost, savedHere } from './update-route.ts';

interface PageRouteOptions extends PostOptions {
  /** Null if nobody can log in, or proposals are turned off. */
  readonly proposals: Pick<Proposals, 'sendPage'> | null;
  /** The public address of the service. */
  readonly baseUrl: string;
}

/** Adds the write for bots whose own repository has their page: its text becomes a proposal of the bot itself. */
export function addPageRoute(router: Router, options: PageRouteOptions): void {
  const { proposals, baseUrl, acknowledge } = options;
  router.put('/api/v2/bots/:id/pages/:locale', async (ctx) => {
    const { id = '', locale: tag = '' } = ctx['params'] as Readonly<Record<string, string>>;
    const { bot, body } = await readPost(ctx, id, pageRules, options);
    const locale = toCanonicalLocale(tag);
    if (locale === undefined)
      throw new ProblemError(
        'not-found',
        `${quoteValue(tag)} is not a language: use a tag such as en or pt-BR`,
      );
    const page = { ...parseSentPage(body), id: bot.id, locale, name: bot.facts.name };
    const refuse = (error: unknown): never => {
      throw error instanceof ProposalError ? toProblem(error, bot.id) : error;
    };
    if (proposals === null) return refuse(new ProposalError('off'));
    const { proposal, shared } = await proposals.sendPage(page).catch(refuse);
    const isPublished = proposal?.state === 'accepted';
    const isSaved = shared && (!isPublished || acknowledge === null || (await acknowledge()));
    const address = proposal && baseUrl + toProposalPath(proposal);
    ctx.status = proposal?.closedAt === null || !isSaved ? 202 : 200;
    ctx.set('Cache-Control', 'no-store');
    if (ctx.status === 202 && address !== null) ctx.set('Location', address);
    const state = isPublished ? 'published' : (proposal?.state ?? 'unchanged');
    ctx.body = { proposal: address, state, ...(!isSaved && { note: savedHere }) };
  });
}

/** A proposal has at most as much, and a page too. */
const pageRules: BodyRules = {
  type: ['text/markdown', 'markdown'],
  limit: 64 * 1024,
  whenTooLarge: 'shorten the page',
};

/**
 * Reads a page: markdown, after front matter with the description or without any.
 * @throws {ProblemError} invalid-update, with every error at once
 */
export function parseSentPage(text: string): Pick<SentPage, 'page' | 'description'> {
  const source = text.replace(byteOrderMark, '');
  const added = source.startsWith('---') ? '' : '---\n{}\n---\n';
  const { page: parsed, faults } = parsePage('', Buffer.from(added + source));
  const data = parsed?.data ?? {};
  const page = parsed?.page ?? '';
  const description = data['description'];
  const errors: ProblemDetail[] = [
    ...faults.map(({ line, column, message }) => {
      const shown = line - (added.split('\n').length - 1);
      return { pointer: '#', detail: `line ${shown}, column ${column}: ${message}` };
    }),
    ...Object.keys(data)
      .filter((key) => key !== 'description')
      .map((key) => ({
        pointer: `#/${key}`,
        detail: `${quoteValue(key)} cannot be changed here: leave it out`,
      })),
    ...validate('translation', { name: '-', ...data })
      .filter(({ place }) => place[0] === 'description')
      .map(({ place, message }) => ({ pointer: '#/description', detail: formatPlace(place) + message })),
    ...(parsed === undefined ? [] : validate('page', page)).map(({ message }) => ({
      pointer: '#/page',
      detail: `the page below the front matter: ${message}`,
    })),
  ];
  if (errors.length > 0) throw ProblemError.ofErrors('invalid-update', errors);
  return { page, ...(typeof description === 'string' && { description }) };
}

/** Returns the response to a page that was refused. */
function toProblem({ kind, values }: ProposalError, id: BotId): Error {
  const { max = '', fault = '', fields = '' } = values;
  const later = { headers: { 'Retry-After': '3600' } };
  switch (kind) {
    case 'gone':
      return createUnknownBotError(id);
    case 'faulty':
      return ProblemError.ofErrors('invalid-update', [{ pointer: '#', detail: String(fault) }]);
    case 'too-large':
      return new ProblemError('too-large', `a proposal has at most ${max} KiB: shorten the page`);
    case 'too-many-sent':
      return new ProblemError('too-many-requests', `a bot can send ${max} pages in 24 hours`, later);
    case 'too-many-in-all':
      return new ProblemError('busy', `${max} proposals wait, which is the most: try again later`, later);
    case 'conflict':
      return new ProblemError(
        'edit-conflict',
        `the list has changed ${fields} of another page that waits for review: send that page again first`,
      );
    case 'blocked':
      return new ProblemError(
        'proposal-refused',
        'this list takes nothing from the bot: write to the maintainers if that is a mistake',
      );
    default:
      return new ProblemError(
        'proposal-refused',
        'this list takes no pages from bots: change them on the site or by pull request',
      );
  }
}
