import type { VNode } from 'preact';
import { useLanguage } from '../language/page-language.tsx';
import type { BotPageProps } from './bot-page.tsx';
import { CountChart } from './count-chart.tsx';

/** A bot's counts in the last 90 days, and when it last reported one. */
export function CountsPanel({
  counts,
  reportedAge,
}: Pick<BotPageProps, 'counts' | 'reportedAge'>): VNode | null {
  const { t, ago } = useLanguage();
  if (reportedAge === undefined) return null;
  return (
    <section class="panel" aria-labelledby="counts">
      <h2 id="counts">{t('bot.countsTitle')}</h2>
      <CountChart counts={counts} id="chart" />
      <p class="muted">
        <small>{t('bot.reported', { ago: ago(0, reportedAge) })}</small>
      </p>
    </section>
  );
}
