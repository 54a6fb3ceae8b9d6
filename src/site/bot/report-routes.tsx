import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { IndexedBot } from '../../catalogue/store/bot-index.ts';
import { findKnownBot } from '../../http/api/read-routes.ts';
import { refuseCrossSite } from '../../http/cross-site.ts';
import { ProblemError } from '../../http/problem.ts';
import { parseFields } from '../../http/query.ts';
import { RateLimit } from '../../http/rate-limits.ts';
import { type BodyRules, readText } from '../../http/request-body.ts';
import { toAddressGroup } from '../../lib/network-address.ts';
import { maxReportLength, reportReasons } from '../../proposals/visitor-reports.ts';
import { withoutBidiControls } from '../page/bidi.ts';
import { sendOnce } from '../page/html-response.ts';
import type { SiteParts } from '../page/site-parts.ts';
import { type ReportFault, type ReportForm, ReportPage, trapField } from './report-page.tsx';

/**
 * Adds the form that reports a bot: for everyone, without an account. A report is kept and sent as a notice. There is no
 * form where the settings name another place for reports.
 */
export function addReportRoutes(router: Router, parts: SiteParts): void {
  const { site, bots, viewerOf, reports, notify } = parts;
  const limit = new RateLimit('reports', 5);
  const isAllowed = (ctx: Context): boolean => {
    try {
      limit.count(ctx, toAddressGroup(ctx.ip), 'wait a minute before the next report');
      return true;
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      ctx.set({ ...error.headers });
      return false;
    }
  };
  const findBot = (ctx: Context): IndexedBot => {
    if (site.settings.links.report !== undefined)
      throw new ProblemError('not-found', `reports are taken at ${site.settings.links.report}`);
    return findKnownBot(bots, String(ctx['params'].id));
  };
  const show = async (ctx: Context, { id, facts }: IndexedBot, form: ReportForm | null): Promise<void> => {
    const bot = { id, name: withoutBidiControls(facts.name) };
    const viewer = await viewerOf(ctx);
    sendOnce(ctx, <ReportPage {...{ site, viewer, bot, form }} />, site.languages.of(ctx));
    if (form?.fault) ctx.status = form.fault === 'error.limited.text' ? 429 : 422;
  };
  router.get('/bots/:id/report', async (ctx) => {
    await show(ctx, findBot(ctx), { reason: '', text: '', fault: null });
  });
  router.post('/bots/:id/report', refuseCrossSite(site.baseUrl), async (ctx) => {
    const bot = findBot(ctx);
    const fields = parseFields(await readText(ctx, formRules));
    const reason = reportReasons.find((one) => one === fields.get('reason'));
    // A browser counts a line end as one character, and sends two.
    const text = (fields.get('text') ?? '').replaceAll('\r\n', '\n').trim();
    const send = async (): Promise<ReportFault | null> => {
      if (reason === undefined) return 'report.noReason';
      if (reason === 'other' && text === '') return 'report.noText';
      if (text.length > maxReportLength) return 'report.tooLong';
      if (!isAllowed(ctx)) return 'error.limited.text';
      if (fields.get(trapField)) return null;
      const { locale } = site.languages.of(ctx);
      const report = await reports.add({ bot: bot.id, reason, text, locale });
      const title = `Report about ${withoutBidiControls(bot.facts.name)} (${bot.id}): ${reason}`;
      if (report)
        notify({ kind: 'report', title, text, url: `${site.baseUrl}/bots/${bot.id}`, at: report.at });
      return null;
    };
    const fault = await send();
    await show(ctx, bot, fault && { reason: reason ?? '', text, fault });
  });
}

/** A character takes up to nine bytes in a form. Leaves room for a text that is too long, which is shown again. */
const formRules: BodyRules = {
  type: ['application/x-www-form-urlencoded', 'a form'],
  limit: 64 * 1024,
  whenTooLarge: 'shorten the text',
};
