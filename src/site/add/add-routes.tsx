import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { BotId } from '../../bot/id.ts';
import { ProblemError } from '../../http/problem.ts';
import { fieldsOf } from '../../http/query.ts';
import { type BodyRules, readText } from '../../http/request-body.ts';
import { type AddEntry, addEntry } from './add-entry.ts';
import { addFields, type FieldTexts } from './add-fields.ts';
import { AddPage } from './add-page.tsx';
import type { Site, Viewer } from '../page/layout.tsx';
import type { Markdown } from '../markdown/markdown.ts';
import { sendOnce } from '../page/html-response.ts';

export interface AddOptions {
  readonly site: Site;
  readonly viewerOf: (ctx: Context) => Promise<Viewer | null>;
  readonly isListed: (id: BotId) => boolean;
  readonly markdown: Markdown;
}

/**
 * `/add`: a form that creates a bot's file. Sending it saves nothing: the response shows the file and its errors, or is
 * the file as a download.
 */
export function addAddRoutes(router: Router, { site, viewerOf, isListed, markdown }: AddOptions): void {
  const entryOf = (texts: FieldTexts): AddEntry => addEntry(texts, Date.now(), isListed);
  const show = async (ctx: Context, texts: FieldTexts, sent: boolean): Promise<void> => {
    const viewer = await viewerOf(ctx);
    const entry = entryOf(texts);
    const name = texts.name?.trim() ?? '';
    const text = entry.faults.page === undefined ? entry.page : '';
    const html = await markdown.preview({ text, name, pictures: {} });
    sendOnce(ctx, <AddPage {...{ site, viewer, texts, entry, html, sent }} />, site.languages.of(ctx));
  };
  router.get('/add', async (ctx) => {
    const viewer = await viewerOf(ctx);
    await show(ctx, { locale: 'en', ...(viewer && { authors: viewer.id }) }, false);
  });
  router.post('/add', async (ctx) => await show(ctx, await readTexts(ctx), true));
  router.post('/add/file', async (ctx) => {
    const texts = await readTexts(ctx);
    const { path, text, faults } = entryOf(texts);
    if (path === undefined || Object.keys(faults).length > 0) {
      await show(ctx, texts, true);
      return;
    }
    ctx.set({
      'Cache-Control': 'no-store',
      'Content-Disposition': `attachment; filename="${path.replace(/.*\//, '')}"`,
    });
    ctx.type = 'text/markdown; charset=utf-8';
    ctx.body = text;
  });
}

/** A page has up to 20,000 characters, and a character takes up to nine bytes in a form. */
const formRules: BodyRules = {
  type: ['application/x-www-form-urlencoded', 'a form'],
  limit: 256 * 1024,
  whenTooLarge: 'shorten the page',
};

/** Characters. More than a page or twenty addresses have. */
const longestField = 45_000;

/** @throws {ProblemError} unsupported-type, too-large, bad-request */
async function readTexts(ctx: Context): Promise<FieldTexts> {
  const params = fieldsOf(await readText(ctx, formRules));
  const texts = addFields.flat().flatMap(({ name }) => {
    const text = params.get(name);
    if (text === null) return [];
    if (text.length > longestField)
      throw new ProblemError('too-large', `${name} is longer than ${longestField} characters: shorten it`);
    return [[name, text] as const];
  });
  return Object.fromEntries(texts);
}
