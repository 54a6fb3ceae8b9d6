import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { WritesUnavailableError } from '../../bot/errors.ts';
import type { Locale } from '../../bot/locale.ts';
import { parsePagePath, pathOf } from '../../catalogue/page/layout.ts';
import type { IndexedBot } from '../../catalogue/store/bot-index.ts';
import { findImages } from '../../catalogue/store/page-images.ts';
import { findKnownBot } from '../../http/api/read-routes.ts';
import { refuseCrossSite } from '../../http/cross-site.ts';
import { ProblemError } from '../../http/problem.ts';
import { parseFields, parseQuery } from '../../http/query.ts';
import { type BodyRules, readText } from '../../http/request-body.ts';
import { ProposalError } from '../../proposals/proposal-error.ts';
import { maxNoteLength } from '../../proposals/proposals.ts';
import { toAddressGroup } from '../../lib/network-address.ts';
import { listWantedRanges } from '../language/locales.ts';
import { findCopies } from '../markdown/markdown-images.ts';
import type { MessageKey } from '../language/message-file.ts';
import { toProposalPath, withParameter } from '../page/addresses.ts';
import { sendLogInPage } from '../page/log-in-page.tsx';
import { sendOnce } from '../page/html-response.ts';
import type { SiteParts } from '../page/site-parts.ts';
import { AddPage } from './add-page.tsx';
import { type FieldGroups, type FieldTexts, withSchemes } from './fields.ts';
import { makeFile } from './form-file.ts';
import {
  createBotForm,
  createEditForm,
  createTranslationForm,
  type Form,
  type OfferedLanguages,
  offerLanguages,
} from './forms.ts';
import { createPreview } from './preview.tsx';
import {
  checkForm,
  type FormMessage,
  proposalParameter,
  type ProposedTexts,
  readProposed,
} from './sending.ts';

/**
 * Adds the forms that make a file of the catalogue: `/add` for a new bot, `/bots/:id/edit` for a change,
 * `/bots/:id/translate` for a translation. Sending one saves nothing: the response shows the file and its errors, or
 * below `/file` it is the file as a download.
 */
export function addAddRoutes(router: Router, parts: SiteParts): void {
  const { bots, viewerOf, readPage } = parts;
  const botOf = (ctx: Context): IndexedBot => findKnownBot(bots, String(ctx['params'].id));
  const offer = (ctx: Context, existing: readonly Locale[]): OfferedLanguages => {
    const { languages, settings } = parts.site;
    const wanted = listWantedRanges(parseQuery(ctx).get('locale') ?? undefined, ctx.get('Accept-Language'));
    return offerLanguages(settings, languages.of(ctx), wanted, existing);
  };
  const forms: Readonly<Record<string, (ctx: Context) => Form | Promise<Form>>> = {
    '/add': async (ctx) => createBotForm(bots, await viewerOf(ctx), offer(ctx, [])),
    '/bots/:id/edit': (ctx) => createEditForm(botOf(ctx), parseQuery(ctx).get('language'), readPage),
    '/bots/:id/translate': (ctx) => {
      const bot = botOf(ctx);
      return createTranslationForm(bot, parseQuery(ctx).get('from'), readPage, offer(ctx, bot.facts.locales));
    },
  };
  const formAt = async (ctx: Context, path: string): Promise<OpenedForm> => {
    const form = await (forms[path] as (typeof forms)[string])(ctx);
    const proposed = await readProposed(ctx, parts, form);
    const named = parseQuery(ctx).get(proposalParameter) ?? '';
    if (proposed === null) return { form, proposed };
    return { form: { ...form, action: withParameter(form.action, proposalParameter, named) }, proposed };
  };
  for (const path of Object.keys(forms)) {
    router.get(path, async (ctx) => await open(ctx, parts, await formAt(ctx, path)));
    router.post([path, `${path}/file`], async (ctx) => {
      const opened = await formAt(ctx, path);
      const sent = await readForm(ctx, opened.form.groups);
      const file = makeFile(opened.form, sent.texts, parts.site.settings);
      if (!ctx.path.endsWith('/file') || Object.keys(file.faults).length > 0)
        await show(ctx, parts, { ...opened, sent, isChecked: true });
      else sendFile(ctx, file.path, file.text);
    });
    if (parts.proposals)
      router.post(`${path}/send`, refuseCrossSite(parts.site.baseUrl), async (ctx) => {
        const opened = await formAt(ctx, path);
        const sent = await readForm(ctx, opened.form.groups);
        await propose(ctx, parts, { ...opened, sent, isChecked: true });
      });
  }
}

/** A form, what the viewer has proposed for its page, and what happened to it. */
interface OpenedForm {
  readonly form: Form;
  readonly proposed: ProposedTexts | null;
  /** What was typed; left out where it is only opened. */
  readonly sent?: SentForm;
  /** Whether its errors are shown. */
  readonly isChecked?: boolean;
  readonly message?: FormMessage;
}

/** Shows a form with what was typed before the login, what was proposed before, or what the page has. */
async function open(ctx: Context, parts: SiteParts, opened: OpenedForm): Promise<void> {
  const { form, proposed } = opened;
  const id = parseQuery(ctx).get(draftParameter);
  const draft = id === null || parts.drafts === null ? undefined : await parts.drafts.read(id);
  if (draft !== undefined) {
    const sent = parseForm(draft, form.groups);
    await show(ctx, parts, { ...opened, sent, isChecked: true, message: { key: 'proposal.loggedIn' } });
  } else {
    const sent = proposed && { ...proposed, base: form.base };
    const message = id === null ? {} : { message: { key: 'proposal.draftExpired' } as const };
    await show(ctx, parts, { ...opened, ...(sent && { sent }), ...message });
  }
}

const draftParameter = 'draft';

/** Sends a form to the reviewers, or shows it again with the reason why not. Who is not logged in does that first. */
async function propose(
  ctx: Context,
  parts: SiteParts,
  opened: OpenedForm & { readonly sent: SentForm },
): Promise<void> {
  const { site, proposals, drafts, viewerOf } = parts;
  const { form, sent } = opened;
  const refuse = async (
    status: number,
    key?: MessageKey,
    values: FormMessage['values'] = {},
  ): Promise<void> => await show(ctx, parts, { ...opened, ...(key && { message: { key, values } }) }, status);
  const file = makeFile(form, sent.texts, site.settings);
  const place = parsePagePath(file.path ?? '');
  const { length: count } = sent.note;
  if (Object.keys(file.faults).length > 0 || place === undefined || file.text === form.source)
    return await refuse(200);
  if (sent.base !== form.base) return await refuse(409, 'edit.stale');
  if (count > maxNoteLength) return await refuse(422, 'fault.tooLong', { count, limit: maxNoteLength });
  if (proposals === null || drafts === null) return await refuse(409, 'proposal.off');
  try {
    const viewer = await viewerOf(ctx);
    if (viewer === null) {
      const draft = await drafts.save(formatForm(sent), toAddressGroup(ctx.ip));
      return sendLogInPage(ctx, site, withParameter(form.action, draftParameter, draft), 'proposal.logIn');
    }
    const { shared } = await proposals.send({
      bot: place.id,
      proposer: viewer,
      pages: new Map([[pathOf(place.id, place.locale), file.text]]),
      note: sent.note,
      accountCreatedAt: viewer.createdAt,
    });
    ctx.redirect(site.languages.of(ctx).href(toProposalPath(place.id, shared)));
    ctx.status = 303;
  } catch (error) {
    if (error instanceof WritesUnavailableError) return await refuse(503, 'proposal.unavailable');
    if (!(error instanceof ProposalError) || error.kind === 'not-maintainer') throw error;
    const status = error.kind.startsWith('too-many') ? 429 : 409;
    await refuse(status, `proposal.${error.kind}`, error.values);
  }
}

/** The texts of a form as it was sent, and the digest of the file that it was filled in with. */
type SentForm = Pick<Form, 'texts' | 'base'> & { readonly note: string };

/**
 * Reads a form from a request. One that a page of another site has its visitors send is refused: it changes nothing, but
 * previews take time.
 * @throws {ProblemError} cross-site, unsupported-type, too-large, bad-request
 */
async function readForm(ctx: Context, groups: FieldGroups): Promise<SentForm> {
  if (ctx.get('Sec-Fetch-Site') === 'cross-site')
    throw new ProblemError('cross-site', 'a page of another site has sent this form: open the form here');
  return parseForm(await readText(ctx, formRules), groups);
}

/** @throws {ProblemError} too-large, bad-request */
function parseForm(form: string, groups: FieldGroups): SentForm {
  const params = parseFields(form);
  const texts: Partial<Record<keyof FieldTexts, string>> = {};
  for (const { name } of groups.flat()) {
    const text = params.get(name);
    if (text === null) continue;
    if (text.length > maxFieldLength)
      throw new ProblemError('too-large', `${name} is longer than ${maxFieldLength} characters: shorten it`);
    texts[name] = text;
  }
  const note = (params.get('note') ?? '').replace(/\r\n?/g, '\n').trim();
  return { texts: withSchemes(groups, texts), base: params.get('base') ?? '', note };
}

/** Returns a form as it is sent. */
function formatForm({ texts, base, note }: SentForm): string {
  return String(new URLSearchParams({ ...texts, base, note }));
}

/** A page has up to 20,000 characters, and a character takes up to nine bytes in a form. */
const formRules: BodyRules = {
  type: ['application/x-www-form-urlencoded', 'a form'],
  limit: 256 * 1024,
  whenTooLarge: 'shorten the page',
};

/** Characters. More than a page or twenty addresses have. */
const maxFieldLength = 45_000;

async function show(
  ctx: Context,
  parts: SiteParts,
  { form, proposed, sent, isChecked = false, message }: OpenedForm,
  status = 200,
): Promise<void> {
  const { site, viewerOf, markdown, copyOf, proposals } = parts;
  const viewer = await viewerOf(ctx);
  const language = site.languages.of(ctx);
  const { texts, base, note } = sent ?? { ...form, note: '' };
  const file = makeFile(form, texts, site.settings);
  const preview = createPreview(form, texts, file, language);
  const text = file.faults.page === undefined ? file.page : '';
  const source = {
    text,
    name: preview.bot.contents[preview.locale]?.name ?? '',
    images: findCopies(findImages(text), copyOf),
  };
  const html = await markdown.preview(source, toAddressGroup(ctx.ip));
  const authors = form.listed?.authors ?? null;
  const policy = proposals?.findPolicy(site.settings, authors, viewer?.id ?? null) ?? 'off';
  const isRight = Object.keys(file.faults).length === 0 && file.text !== form.source;
  const props = {
    site,
    viewer,
    form,
    texts,
    file,
    preview,
    html,
    policy,
    note,
    message: message ?? null,
    isSent: isChecked,
    isStale: base !== form.base,
    findings: policy !== 'off' && isRight ? checkForm(parts, file) : [],
    conflicts: proposed?.conflicts ?? new Map(),
  };
  sendOnce(ctx, <AddPage {...props} />, language, status);
}

function sendFile(ctx: Context, path = '', text: string): void {
  ctx.set({
    'Cache-Control': 'no-store',
    'Content-Disposition': `attachment; filename="${path.replace(/.*\//, '')}"`,
  });
  ctx.type = 'text/markdown; charset=utf-8';
  ctx.body = text;
}
