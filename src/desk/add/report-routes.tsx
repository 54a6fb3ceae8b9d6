import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { VNode } from 'preact';
import type { BotId } from '../../bot/id.ts';
import { findKnownBot } from '../../catalogue/store/bot-index.ts';
import { RateLimit } from '../../http/limits.ts';
import { ProblemError } from '../../http/problem.ts';
import { readFields, refuseCrossSite } from '../../http/request.ts';
import { maxReportLength, reportReasons } from '../../proposals/visitor-reports.ts';
import { usePage } from '../../site/page/page-context.tsx';
import { BackLink } from '../../site/page/elements.tsx';
import { withoutBidiControls } from '../../lib/text.ts';
import { sendOnce } from '../../site/page/html-response.ts';
import { Layout } from '../../site/page/layout.tsx';
import type { DeskParts } from '../page/desk-parts.ts';
import { MessagePage } from '../page/elements.tsx';

/**
 * Adds the form for reporting a bot, for everybody, without an account. A report is stored and sent as a notification.
 * If the settings name another place for reports, there is no form.
 */
export function addReportRoutes(router: Router, { site, bots, viewerOf, reports, notify }: DeskParts): void {
  const limit = new RateLimit('reports', 5);
  const findBot = (ctx: Context): { readonly id: BotId; readonly name: string } => {
    if (site.settings.links.report !== undefined)
      throw new ProblemError('not-found', `reports are taken at ${site.settings.links.report}`);
    const { id, facts } = findKnownBot(bots, String(ctx['params'].id));
    return { id, name: withoutBidiControls(facts.name) };
  };
  const show = async (ctx: Context, page: VNode, status = 200): Promise<void> =>
    sendOnce(ctx, { site, viewer: await viewerOf(ctx) }, page, status);
  router.get('/bots/:id/report', async (ctx) => await show(ctx, <ReportPage bot={findBot(ctx)} />));
  router.post('/bots/:id/report', refuseCrossSite(site.baseUrl), async (ctx) => {
    const bot = findBot(ctx);
    const fields = await readFields(ctx, 'shorten the text');
    const reason = reportReasons.find((one) => one === fields.get('reason'));
    const text = (fields.get('text') ?? '').trim();
    // A browser never sends these.
    if (reason === undefined || text.length > maxReportLength)
      throw new ProblemError('bad-request', `choose a reason, and ${maxReportLength} characters at most`);
    if (reason === 'other' && text === '') return await show(ctx, <ReportPage bot={bot} needsText />, 422);
    limit.countClient(ctx, 'wait a minute before the next report');
    const { locale, t, href } = site.languages.of(ctx);
    if (!fields.get(trapField)) {
      const report = await reports.add({ bot: bot.id, reason, text, locale }, ctx.ip);
      const title = `Report about ${bot.name} (${bot.id}): ${reason}`;
      const url = `${site.baseUrl}/bots/${bot.id}`;
      if (report) notify({ kind: 'report', title, text, url, at: report.at });
    }
    const page = (
      <MessagePage title="report.thanks" to={href(`/bots/${bot.id}`)} action="proposal.seePage">
        <p>{t('report.sent')}</p>
      </MessagePage>
    );
    await show(ctx, page);
  });
}

interface ReportPageProps {
  readonly bot: { readonly id: BotId; readonly name: string };
  /** Whether the form was sent without the text that its reason requires. */
  readonly needsText?: boolean;
}

/** A field that is hidden from people, so only programs fill it in. */
const trapField = 'subject';

/** The form for reporting a bot to the maintainers. */
function ReportPage({ bot, needsText = false }: ReportPageProps): VNode {
  const { t, text, href } = usePage();
  return (
    <Layout
      title={text('report.title', { bot: bot.name })}
      isUnlisted
      head={
        <>
          <BackLink path={`/bots/${bot.id}`} name={bot.name} />
          <h1>{t('report.title', { bot: bot.name })}</h1>
          <p class="whole">{t('report.introduction')}</p>
        </>
      }
    >
      <form class="narrow fields" method="post" action={href(`/bots/${bot.id}/report`)}>
        {needsText && (
          <p class="notice bad" role="alert">
            {t('report.noText')}
          </p>
        )}
        <div class="field">
          <label for="reason">{t('report.reason')}</label>
          <select id="reason" name="reason" required>
            <option value="">{text('add.choose')}</option>
            {reportReasons.map((reason) => (
              <option key={reason} value={reason} selected={needsText && reason === 'other'}>
                {text(`report.reason.${reason}`)}
              </option>
            ))}
          </select>
        </div>
        <div class="field">
          <label for="text">{t('report.text')}</label>
          <textarea id="text" name="text" dir="auto" maxLength={maxReportLength} aria-describedby="hint" />
          <p class="hint" id="hint">
            {t('report.hint', { max: maxReportLength })}
          </p>
        </div>
        <p hidden>
          <label for={trapField}>{t('report.leaveEmpty')}</label>
          <input id={trapField} name={trapField} tabIndex={-1} autocomplete="off" />
        </p>
        <p class="actions">
          <button type="submit">{t('report.send')}</button>
        </p>
      </form>
    </Layout>
  );
}
