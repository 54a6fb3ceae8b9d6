import type { VNode } from 'preact';
import type { VisitorReport } from '../../proposals/visitor-reports.ts';
import { useLanguage } from '../language/page-language.tsx';
import { withoutBidiControls } from '../page/bidi.ts';
import { formatIsoDate } from '../page/iso-date.ts';
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
