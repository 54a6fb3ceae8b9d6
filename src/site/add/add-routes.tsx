import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { Locale } from '../../bot/locale.ts';
import type { BotIndex, IndexedBot } from '../../catalogue/store/bot-index.ts';
import { findImages } from '../../catalogue/store/page-pictures.ts';
import { findKnownBot } from '../../http/api/read-routes.ts';
import { parseQuery } from '../../http/query.ts';
import { toAddressGroup } from '../../lib/network-address.ts';
import { listWantedRanges } from '../language/locales.ts';
import type { Markdown } from '../markdown/markdown.ts';
import { findCopies, type FindCopy } from '../markdown/markdown-pictures.ts';
import { sendOnce } from '../page/html-response.ts';
import type { PageOptions } from '../page/layout.tsx';
import { AddPage } from './add-page.tsx';
import { limitEntry } from './form-limits.ts';
import type { FormEntry } from './form-entry.ts';
import { editForm, type Form, createBotForm, type PageReader, createTranslationForm } from './forms.ts';
import { type OfferedLanguages, offerLanguages } from './offered-languages.ts';
import { createPreview } from './preview.tsx';
import { readForm, type SentForm } from './sent-form.ts';

export interface AddOptions extends PageOptions {
  readonly bots: BotIndex;
  readonly readPage: PageReader;
  readonly markdown: Markdown;
  /** Finds the copy of an image in a page. */
  readonly copyOf: FindCopy;
}

/**
 * Adds the forms that make a file of the catalogue: `/add` for a new bot, `/bots/:id/edit` for a change,
 * `/bots/:id/translate` for a translation. Sending one saves nothing: the response shows the file and its errors, or
 * below `/file` it is the file as a download.
 */
export function addAddRoutes(router: Router, options: AddOptions): void {
  const { bots, viewerOf, readPage } = options;
  const botOf = (ctx: Context): IndexedBot => findKnownBot(bots, String(ctx['params'].id));
  const offer = (ctx: Context, existing?: readonly Locale[]): OfferedLanguages => {
    const { languages, settings } = options.site;
    const wanted = listWantedRanges(parseQuery(ctx).get('locale') ?? undefined, ctx.get('Accept-Language'));
    return offerLanguages(settings, languages.of(ctx), wanted, existing);
  };
  const forms: Readonly<Record<string, (ctx: Context) => Form | Promise<Form>>> = {
    '/add': async (ctx) => createBotForm(bots, await viewerOf(ctx), offer(ctx)),
    '/bots/:id/edit': (ctx) => editForm(botOf(ctx), parseQuery(ctx).get('language'), readPage),
    '/bots/:id/translate': (ctx) => {
      const bot = botOf(ctx);
      return createTranslationForm(bot, parseQuery(ctx).get('from'), readPage, offer(ctx, bot.facts.locales));
    },
  };
  for (const [path, formOf] of Object.entries(forms)) {
    router.get(path, async (ctx) => {
      const form = await formOf(ctx);
      await show(ctx, options, form, null);
    });
    router.post(path, async (ctx) => {
      const form = await formOf(ctx);
      await show(ctx, options, form, await readForm(ctx, form.kind));
    });
    router.post(`${path}/file`, async (ctx) => {
      const form = await formOf(ctx);
      const sent = await readForm(ctx, form.kind);
      const entry = limitEntry(options.site.settings, form, sent.texts);
      if (Object.keys(entry.faults).length > 0) await show(ctx, options, form, sent);
      else sendFile(ctx, entry);
    });
  }
}

/** @param sent the form as it was sent; null where it is only opened */
async function show(
  ctx: Context,
  { site, viewerOf, markdown, copyOf }: AddOptions,
  form: Form,
  sent: SentForm | null,
): Promise<void> {
  const viewer = await viewerOf(ctx);
  const language = site.languages.of(ctx);
  const { texts, base } = sent ?? form;
  const entry = limitEntry(site.settings, form, texts);
  const { listed } = form;
  const names = { name: language.text('field.name'), description: language.text('field.description') };
  const bot = createPreview(entry, { ...form.texts, ...texts }, listed, names, site.settings.categories);
  const { name = '' } = bot.bot.contents[bot.locale] ?? {};
  const text = entry.faults.page === undefined ? entry.page : '';
  const source = { text, name, images: findCopies(findImages(text), copyOf) };
  const html = await markdown.preview(source, toAddressGroup(ctx.ip));
  const isStale = base !== form.base;
  const props = { ...form, site, viewer, texts, entry, sent: sent !== null, isStale, bot, html };
  sendOnce(ctx, <AddPage {...props} />, language);
}

function sendFile(ctx: Context, { path = '', text }: FormEntry): void {
  ctx.set({
    'Cache-Control': 'no-store',
    'Content-Disposition': `attachment; filename="${path.replace(/.*\//, '')}"`,
  });
  ctx.type = 'text/markdown; charset=utf-8';
  ctx.body = text;
}
