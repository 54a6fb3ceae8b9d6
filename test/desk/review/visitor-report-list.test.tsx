import { doesNotMatch, match } from 'node:assert/strict';
import { renderToString } from 'preact-render-to-string';
import type { Locale } from '../../../src/bot/locale.ts';
import { MutableBotIndex } from '../../../src/catalogue/store/bot-store.ts';
import type { VisitorReport } from '../../../src/proposals/visitor-reports.ts';
import { VisitorReportList } from '../../../src/desk/review/queue-page.tsx';
import { inEnglish } from '../../support/languages.ts';
import { botId } from '../../support/sample.ts';
import { sampleBot } from '../../support/sample-bot.ts';

const report: VisitorReport = {
  id: '1798761600000-0123abcd',
  bot: botId('42'),
  reason: 'wrong-info',
  text: '<img src=x onerror=alert(1)>\nIt is \u202edaolnwod',
  locale: 'en' as Locale,
  at: Date.now() - 3_600_000,
};

describe('the reports of visitors in the review', () => {
  const bots = new MutableBotIndex();
  bots.set(sampleBot('42', { en: ['Homer\u202e', 'Answers.'] }));
  const render = (...reports: VisitorReport[]): string =>
    renderToString(inEnglish(<VisitorReportList reports={reports} bots={bots} />));

  it('have the bot, the reason, the text as it is, the time, and a button', () => {
    const html = render(report);
    match(html, /<a href="\/bots\/42"><bdi>Homer<\/bdi><\/a>/);
    match(html, /The listing is wrong or misleading · <time datetime="[^"]+">1 hour ago<\/time>/);
    match(html, /<p class="typed" dir="auto">&lt;img src=x onerror=alert\(1\)>\nIt is/);
    doesNotMatch(html, /<img/);
    match(html, /<form method="post" action="\/review\/reports\/1798761600000-0123abcd\/done"><button/);
  });

  it('name the ID of a bot that is gone, and say that there are none', () => {
    match(render({ ...report, bot: botId('7'), text: '' }), /<bdi>7<\/bdi>/);
    match(render(), /There are no reports/);
  });
});
