import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { WritesUnavailableError } from '../../bot/errors.ts';
import type { Locale } from '../../bot/locale.ts';
import type { IndexedBot } from '../../catalogue/store/bot-index.ts';
import { findImages } from '../../catalogue/store/page-images.ts';
import { blockedRule } from '../../check/blocked-rule.ts';
import { findKnownBot } from '../../http/api/read-routes.ts';
import { refuseCrossSite } from '../../http/cross-site.ts';
import { ProblemError } from '../../http/problem.ts';
import { parseFields, parseQuery, readFields } from '../../http/query.ts';
import type { Drafts } from '../../proposals/drafts.ts';
import { ProposalError } from '../../proposals/proposal-error.ts';
import { maxNoteLength } from '../../proposals/proposal.ts';
import type { Proposals } from '../../proposals/proposals.ts';
import { findSubject } from '../../proposals/subject.ts';
import { toAddressGroup } from '../../lib/network-address.ts';
import { listWantedRanges } from '../language/locales.ts';
import { findCopies } from '../markdown/markdown-images.ts';
import type { MessageKey } from '../language/message-file.ts';
import { toProposalPath, withParameter } from '../page/addresses.ts';
import { sendLogInPage } from '../page/log-in-page.tsx';
import { redirectTo, sendOnce } from '../page/html-response.ts';
import type { SiteParts } from '../page/site-parts.ts';
import { AddPage } from './add-page.tsx';
import { addedAuthor } from './advice.tsx';
import { type FieldName, withSchemes } from './fields.ts';
import { makeFile } from './form-file.ts';
import {
  createBotForm,
  createEditForm,
  createTranslationForm,
  type Form,
  isBotForm,
  type OfferedLanguages,
  offerLanguages,
} from './forms.ts';
import { createPreview } from './preview.tsx';
import {
  createCollectionEditForm,
  createCollectionForm,
  createCollectionTranslationForm,
  createProfileForm,
  profileFormPath,
} from './side-forms.ts';
import { checkForm, type FilledForm, fillInForm, type FormMessage } from './sending.ts';

/**
 * Adds the forms that make a file of the catalogue: `/add` for a new bot, `/bots/:id/edit` for a change,
 * `/bots/:id/translate` for a translation, the same for collections, and what an account is called. Sending one saves nothing: the response shows the file and its errors, or
 * below `/file` it is the file as a download.
 */
export function addAddRoutes(router: Router, parts: SiteParts): void {
  const { site, bots, viewerOf, readFile, proposals, drafts } = parts;
  const botOf = (ctx: Context): IndexedBot => findKnownBot(bots, String(ctx['params'].id));
  const offer = (ctx: Context, existing: readonly Locale[]): OfferedLanguages => {
    const wanted = listWantedRanges(parseQuery(ctx).get('locale') ?? undefined, ctx.get('Accept-Language'));
    return offerLanguages(site.settings, site.languages.of(ctx), wanted, existing);
  };
  const forms: Readonly<Record<string, (ctx: Context) => Form | null | Promise<Form | null>>> = {
    '/add': async (ctx) => createBotForm(bots, await viewerOf(ctx), offer(ctx, [])),
    '/bots/:id/edit': (ctx) => createEditForm(botOf(ctx), parseQuery(ctx).get('language'), readFile),
    '/bots/:id/translate': (ctx) => {
      const bot = botOf(ctx);
      return createTranslationForm(bot, parseQuery(ctx).get('from'), readFile, offer(ctx, bot.facts.locales));
    },
    '/add/collection': (ctx) => createCollectionForm(parts, offer(ctx, [])),
    '/collections/:name/edit': (ctx) =>
      createCollectionEditForm(parts, String(ctx['params'].name), parseQuery(ctx).get('language')),
    '/collections/:name/translate': (ctx) =>
      createCollectionTranslationForm(parts, String(ctx['params'].name), (existing) => offer(ctx, existing)),
    [profileFormPath]: async (ctx) => {
      const viewer = await viewerOf(ctx);
      return viewer && createProfileForm(viewer, site.languages.of(ctx).locale, readFile);
    },
  };
  for (const [path, createForm] of Object.entries(forms)) {
    /** Calls back with the form; who has to log in for it sees that. */
    const open = async (ctx: Context, use: (filled: FilledForm) => Promise<void>): Promise<void> => {
      const form = await createForm(ctx);
      if (form === null) sendLogInPage(ctx, site, path, 'myBots.visitor');
      else await use(await fillInForm(ctx, parts, form));
    };
    router.get(path, async (ctx) => {
      await open(ctx, async (filled) => await show(ctx, parts, await withDraft(ctx, drafts, filled)));
    });
    const check = async (ctx: Context, opened: FilledForm): Promise<void> => {
      const sent = await readForm(ctx, opened);
      const { path: file = '', text, faults } = makeFile(sent.form, sent.texts, site.settings);
      if (!ctx.path.endsWith('/file') || Object.keys(faults).length > 0) return await show(ctx, parts, sent);
      ctx.attachment(file.replace(/.*\//, ''));
      ctx.set('Cache-Control', 'no-store');
      ctx.type = file.endsWith('.json') ? 'json' : 'text/markdown; charset=utf-8';
      ctx.body = text;
    };
    router.post([path, `${path}/file`], async (ctx) => {
      await open(ctx, async (filled) => await check(ctx, filled));
    });
    if (proposals && drafts)
      router.post(`${path}/send`, refuseCrossSite(site.baseUrl), async (ctx) => {
        await open(ctx, async (filled) => {
          await propose(ctx, { ...parts, proposals, drafts }, await readForm(ctx, filled));
        });
      });
  }
}

/** Returns a form with what was typed before the login, where the address names that. */
async function withDraft(ctx: Context, drafts: Drafts | null, filled: FilledForm): Promise<FilledForm> {
  const id = parseQuery(ctx).get(draftParameter);
  if (id === null) return filled;
  const draft = await drafts?.read(id);
  if (draft === undefined) return { ...filled, message: { key: 'proposal.draftExpired' } };
  return { ...parseForm(parseFields(draft), filled), message: { key: 'proposal.loggedIn' } };
}

const draftParameter = 'draft';

/** Sends a form to the reviewers, or shows it again with the reason why not. Who is not logged in does that first. */
async function propose(
  ctx: Context,
  parts: SiteParts & { readonly proposals: Proposals; readonly drafts: Drafts },
  filled: FilledForm,
): Promise<void> {
  const { site, authors, proposals, drafts, viewerOf } = parts;
  const { form, texts, base, note } = filled;
  const refuse = async (status: number, key: MessageKey, values: FormMessage['values'] = {}): Promise<void> =>
    await show(ctx, parts, { ...filled, message: { key, values } }, status);
  const file = makeFile(form, texts, site.settings);
  const { path = '' } = file;
  const subject = findSubject(path);
  const { length: count } = note;
  if (subject === undefined || !file.isReady) return await show(ctx, parts, filled);
  if (base !== form.base) return await refuse(409, 'edit.stale');
  if (count > maxNoteLength) return await refuse(422, 'fault.tooLong', { count, limit: maxNoteLength });
  // Also before a draft is kept.
  if (checkForm(parts, file, false).some(({ rule }) => rule === blockedRule))
    return await refuse(409, 'proposal.blocked');
  try {
    const proposer = await viewerOf(ctx);
    if (proposer === null) {
      const typed = String(new URLSearchParams({ ...texts, base, note }));
      const draft = await drafts.save(typed, ctx.ip);
      return sendLogInPage(ctx, site, withParameter(form.action, draftParameter, draft), 'proposal.logIn');
    }
    const pages = new Map([[path, file.text]]);
    const accountCreatedAt = proposer.createdAt;
    const isAuthor = (await authors.find(proposer.id)).bots.length > 0;
    const sent = { subject, proposer, pages, note, accountCreatedAt, isAuthor };
    const { shared } = await proposals.send(sent);
    redirectTo(ctx, site.languages.of(ctx).href(toProposalPath(subject, shared)));
  } catch (error) {
    if (error instanceof WritesUnavailableError) return await refuse(503, 'proposal.unavailable');
    if (!(error instanceof ProposalError) || error.kind === 'not-maintainer') throw error;
    const status = error.kind.startsWith('too-many') ? 429 : 409;
    await refuse(status, `proposal.${error.kind}`, error.values);
  }
}

/**
 * Reads a form from a request. One that a page of another site has its visitors send is refused: it changes nothing, but
 * previews take time.
 * @throws {ProblemError} cross-site, unsupported-type, too-large, bad-request
 */
async function readForm(ctx: Context, opened: FilledForm): Promise<FilledForm> {
  if (ctx.get('Sec-Fetch-Site') === 'cross-site')
    throw new ProblemError('cross-site', 'a page of another site has sent this form: open the form here');
  return parseForm(await readFields(ctx, maxFormBytes, 'shorten the page'), opened);
}

/** A page has up to 20,000 characters. */
const maxFormBytes = 256 * 1024;

/** @throws {ProblemError} too-large */
function parseForm(fields: URLSearchParams, opened: FilledForm): FilledForm {
  const { groups } = opened.form;
  const texts: Partial<Record<FieldName, string>> = {};
  for (const { name } of groups.flat()) {
    const text = fields.get(name);
    if (text === null) continue;
    if (text.length > maxFieldLength)
      throw new ProblemError('too-large', `${name} is longer than ${maxFieldLength} characters: shorten it`);
    texts[name] = text;
  }
  const author = fields.get(addedAuthor);
  if (author !== null) texts.authors = `${texts.authors ?? ''} ${author}`.trim();
  const note = (fields.get('note') ?? '').replace(/\r\n?/g, '\n').trim();
  return { ...opened, texts: withSchemes(groups, texts), base: fields.get('base') ?? '', note, isSent: true };
}

/** Characters. More than a page or twenty addresses have. */
const maxFieldLength = 45_000;

async function show(ctx: Context, parts: SiteParts, filled: FilledForm, status = 200): Promise<void> {
  const { site, viewerOf, markdown, copyOf, proposals } = parts;
  const { form, texts } = filled;
  const viewer = await viewerOf(ctx);
  const language = site.languages.of(ctx);
  const file = makeFile(form, texts, site.settings);
  const preview = isBotForm(form) ? createPreview(form, texts, file, language) : undefined;
  const text = file.faults.page === undefined ? file.page : '';
  const name = preview?.bot.contents[preview.locale]?.name ?? '';
  const images = findCopies(findImages(text), copyOf);
  const html = await markdown.preview({ text, name, images }, toAddressGroup(ctx.ip));
  const policy =
    (!viewer?.blocked && proposals?.findPolicy(site.settings, form.owners, viewer?.id ?? null)) || 'off';
  const findings =
    policy !== 'off' && file.isReady ? checkForm(parts, file, viewer?.toReview !== undefined) : [];
  const medianWaitMs = proposals?.medianWaitMs();
  const props = { ...filled, site, viewer, file, preview, html, policy, medianWaitMs, findings };
  sendOnce(ctx, <AddPage {...props} />, language, status);
}
