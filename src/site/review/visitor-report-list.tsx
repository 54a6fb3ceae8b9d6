import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { VNode } from 'preact';
import { refuseCrossSite } from '../../http/cross-site.ts';
import type { VisitorReport, VisitorReports } from '../../proposals/visitor-reports.ts';
import { useLanguage } from '../language/page-language.tsx';
import { withoutBidiControls } from '../page/bidi.ts';
import { formatIsoDate } from '../page/iso-date.ts';
import type { Site } from '../page/layout.tsx';
import type { SiteParts } from '../page/site-parts.ts';

export interface VisitorReportListProps {
  readonly reports: readonly VisitorReport[];
  readonly bots: SiteParts['bots'];
}

/** What visitors say about bots, each with a button that removes it. For maintainers only. */
export function VisitorReportList({ reports, bots }: VisitorReportListProps): VNode {
  const { t, href, ago } = useLanguage();
  return (
    <section class="stack" aria-labelledby="reports">
      <h2 id="reports">{t('report.list')}</h2>
      {reports.length === 0 && <p class="muted">{t('report.none')}</p>}
      {reports.map(({ id, bot, reason, text, at }) => (
        <article key={id} class="panel stack">
          <h3>
            <a href={href(`/bots/${bot}`)}>
              <bdi>{withoutBidiControls(bots.get(bot)?.facts.name ?? bot)}</bdi>
            </a>
          </h3>
          <p class="muted">
            {t(`report.reason.${reason}`)} · <time dateTime={formatIsoDate(at)}>{ago(at, Date.now())}</time>
          </p>
          <p class="typed" dir="auto">
            {text}
          </p>
          <form method="post" action={href(`/review/reports/${id}/done`)}>
            <button class="quiet" type="submit">
              {t('report.done')}
            </button>
          </form>
        </article>
      ))}
    </section>
  );
}

/**
 * Adds what the buttons of the list press. It leads back to the review.
 * @param guard throws where the viewer is no maintainer
 */
export function addReportDoneRoute(
  router: Router,
  { site }: { readonly site: Pick<Site, 'baseUrl' | 'languages'> },
  reports: Pick<VisitorReports, 'remove'>,
  guard: (ctx: Context) => Promise<void>,
): void {
  router.post('/review/reports/:id/done', refuseCrossSite(site.baseUrl), async (ctx) => {
    await guard(ctx);
    await reports.remove(String(ctx['params'].id));
    ctx.redirect(site.languages.of(ctx).href('/review'));
    ctx.status = 303;
  });
}
