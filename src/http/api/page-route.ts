import type { Router } from '@koa/router';
import type { PageContent } from '../../../schemas/types.ts';
import { createUnknownBotError } from '../../bot/errors.ts';
import type { BotId } from '../../bot/id.ts';
import { toCanonicalLocale } from '../../bot/locale.ts';
import { validate } from '../../bot/validate.ts';
import { parsePage } from '../../catalogue/page/page.ts';
import { ProposalError, toProposalPath } from '../../proposals/proposal.ts';
import type { Proposals } from '../../proposals/proposals.ts';
import { ProblemError, type ProblemKind } from '../problem.ts';
import { byteOrderMark, ensureNotCrowded, toPointer } from './update-body.ts';
import { type PostOptions, readPost, savedHere } from './update-route.ts';

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
    const { bot, body } = await readPost(ctx, ctx['params'].id ?? '', pageRules, options);
    const locale = toCanonicalLocale(ctx['params'].locale ?? '');
    if (locale === undefined)
      throw new ProblemError('not-found', 'the address ends in no language: use a tag such as en or pt-BR');
    const page = { ...parseSentPage(body), id: bot.id, locale, name: bot.facts.name };
    if (proposals === null) return refuse(bot.id, new ProposalError('off'));
    const { proposal, shared } = await proposals.sendPage(page).catch((error) => refuse(bot.id, error));
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

/** The limit is that of a proposal. */
const pageRules = {
  type: ['text/markdown', 'markdown'],
  limit: 64 * 1024,
  whenTooLarge: 'shorten the page',
} as const;

/**
 * Reads a page: markdown, with or without front matter that has the description.
 * @throws {ProblemError} invalid-update, with every error at once
 */
export function parseSentPage(text: string): PageContent {
  const source = text.replace(byteOrderMark, '');
  const added = source.startsWith('---') ? '' : '---\n{}\n---\n';
  if (added === '') ensureNotCrowded(source.slice(0, source.indexOf('\n---')));
  const { page: parsed, faults } = parsePage('', Buffer.from(added + source));
  const { data = {}, page = '' } = parsed ?? {};
  const sent = { ...data, page };
  const isEmpty = parsed !== undefined && page.trim() === '' && !('description' in data);
  const errors = [
    ...('page' in data ? [{ pointer: '#/page', detail: 'write the page below the front matter' }] : []),
    ...(isEmpty ? [{ pointer: '#/page', detail: 'there is no text: send the text of the page' }] : []),
    ...faults.map(({ line, column, message }) => {
      const shown = line - (added.split('\n').length - 1);
      return { pointer: '#', detail: `line ${shown}, column ${column}: ${message}` };
    }),
    ...(parsed ? validate('sent-page', sent) : []).map(({ place, message }) => ({
      pointer: toPointer(place),
      detail: message,
    })),
  ];
  if (errors.length > 0) throw ProblemError.ofErrors('invalid-update', errors);
  return sent;
}

/** Throws the error of a page that was refused. */
function refuse(id: BotId, error: unknown): never {
  if (!(error instanceof ProposalError)) throw error;
  const { kind, values } = error;
  if (kind === 'gone') throw createUnknownBotError(id);
  if (kind === 'faulty')
    throw ProblemError.ofErrors('invalid-update', [{ pointer: '#', detail: String(values['fault']) }]);
  const [problem, detail] = refusals.get(kind) ?? takesNone;
  const isForNow = kind.startsWith('too-many');
  throw new ProblemError(problem, detail, isForNow ? { headers: { 'Retry-After': '3600' } } : {});
}

const takesNone = [
  'proposal-refused',
  'this list takes no pages from bots: change them on the site or by pull request',
] as const;

const refusals = new Map<string, readonly [ProblemKind, string]>([
  ['blocked', ['proposal-refused', 'this list takes nothing from the bot: ask the maintainers']],
  ['conflict', ['edit-conflict', 'the list has changed another page that waits: send that page again first']],
  ['too-large', ['too-large', 'the pages that wait have more than 64 KiB: shorten them']],
  ['too-many-sent', ['too-many-requests', 'the bot has sent as many pages as it can in 24 hours']],
  ['too-many-in-all', ['busy', 'too many proposals wait: try again later']],
]);
