import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { Locale } from '../../bot/locale.ts';
import type { IndexedBot } from '../../catalogue/store/bot-index.ts';
import { findImages } from '../../catalogue/store/page-images.ts';
import { findKnownBot } from '../../http/api/read-routes.ts';
import { ProblemError } from '../../http/problem.ts';
import { parseFields, parseQuery } from '../../http/query.ts';
import { type BodyRules, readText } from '../../http/request-body.ts';
import { toAddressGroup } from '../../lib/network-address.ts';
import { listWantedRanges } from '../language/locales.ts';
import { findCopies } from '../markdown/markdown-images.ts';
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
  for (const [path, formOf] of Object.entries(forms)) {
    router.get(path, async (ctx) => await show(ctx, parts, await formOf(ctx), null));
    router.post([path, `${path}/file`], async (ctx) => {
      const form = await formOf(ctx);
      const sent = await readForm(ctx, form.groups);
      const file = makeFile(form, sent.texts, parts.site.settings);
      if (!ctx.path.endsWith('/file') || Object.keys(file.faults).length > 0)
        await show(ctx, parts, form, sent);
      else sendFile(ctx, file.path, file.text);
    });
  }
}

/** The texts of a form as it was sent, and the digest of the file that it was filled in with. */
type SentForm = Pick<Form, 'texts' | 'base'>;

/**
 * Reads a form from a request. One that a page of another site has its visitors send is refused: it changes nothing, but
 * previews take time.
 * @throws {ProblemError} cross-site, unsupported-type, too-large, bad-request
 */
async function readForm(ctx: Context, groups: FieldGroups): Promise<SentForm> {
  if (ctx.get('Sec-Fetch-Site') === 'cross-site')
    throw new ProblemError('cross-site', 'a page of another site has sent this form: open the form here');
  const params = parseFields(await readText(ctx, formRules));
  const texts: Partial<Record<keyof FieldTexts, string>> = {};
  for (const { name } of groups.flat()) {
    const text = params.get(name);
    if (text === null) continue;
    if (text.length > maxFieldLength)
      throw new ProblemError('too-large', `${name} is longer than ${maxFieldLength} characters: shorten it`);
    texts[name] = text;
  }
  return { texts: withSchemes(groups, texts), base: params.get('base') ?? '' };
}

/** A page has up to 20,000 characters, and a character takes up to nine bytes in a form. */
const formRules: BodyRules = {
  type: ['application/x-www-form-urlencoded', 'a form'],
  limit: 256 * 1024,
  whenTooLarge: 'shorten the page',
};

/** Characters. More than a page or twenty addresses have. */
const maxFieldLength = 45_000;

/** @param sent the form as it was sent; null where it is only opened */
async function show(
  ctx: Context,
  { site, viewerOf, markdown, copyOf }: SiteParts,
  form: Form,
  sent: SentForm | null,
): Promise<void> {
  const viewer = await viewerOf(ctx);
  const language = site.languages.of(ctx);
  const { texts, base } = sent ?? form;
  const file = makeFile(form, texts, site.settings);
  const preview = createPreview(form, texts, file, language);
  const text = file.faults.page === undefined ? file.page : '';
  const source = {
    text,
    name: preview.bot.contents[preview.locale]?.name ?? '',
    images: findCopies(findImages(text), copyOf),
  };
  const html = await markdown.preview(source, toAddressGroup(ctx.ip));
  const isStale = base !== form.base;
  const props = { site, viewer, form, texts, file, isSent: sent !== null, isStale, preview, html };
  sendOnce(ctx, <AddPage {...props} />, language);
}

function sendFile(ctx: Context, path = '', text: string): void {
  ctx.set({
    'Cache-Control': 'no-store',
    'Content-Disposition': `attachment; filename="${path.replace(/.*\//, '')}"`,
  });
  ctx.type = 'text/markdown; charset=utf-8';
  ctx.body = text;
}
