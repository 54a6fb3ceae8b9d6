import { deepStrictEqual, doesNotMatch, match, strictEqual } from 'node:assert/strict';
import { Router } from '@koa/router';
import { renderToString } from 'preact-render-to-string';
import type { Locale } from '../../../src/bot/locale.ts';
import { MutableBotIndex } from '../../../src/catalogue/store/bot-index.ts';
import { ProblemError } from '../../../src/http/problem.ts';
import type { VisitorReport } from '../../../src/proposals/visitor-reports.ts';
import { addReportDoneRoute, VisitorReportList } from '../../../src/site/review/visitor-report-list.tsx';
import { serveHandler } from '../../support/handler.ts';
import { inEnglish, testLanguages } from '../../support/languages.ts';
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

  it('are removed by a maintainer, from a page of the site', async () => {
    const removed: string[] = [];
    const router = new Router();
    const site = { baseUrl: 'https://bots.example.org', languages: testLanguages };
    const guard = async (ctx: { get: (name: string) => string }): Promise<void> => {
      if (ctx.get('x-account') !== 'maintainer') throw new ProblemError('not-found', 'nothing here');
    };
    addReportDoneRoute(router, { site }, { remove: async (id) => void removed.push(id) }, guard);
    const server = await serveHandler((ctx, next) => router.routes()(ctx as never, next));
    const press = async (headers: Record<string, string>): Promise<number> =>
      (await server.send('POST', `/review/reports/${report.id}/done`, headers)).status;
    strictEqual(await press({ 'x-account': 'maintainer', 'sec-fetch-site': 'cross-site' }), 403);
    strictEqual(await press({ 'sec-fetch-site': 'same-origin' }), 404);
    deepStrictEqual(removed, []);
    strictEqual(await press({ 'x-account': 'maintainer', 'sec-fetch-site': 'same-origin' }), 303);
    deepStrictEqual(removed, [report.id]);
  });
});
