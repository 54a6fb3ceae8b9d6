import { doesNotMatch, match, strictEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { renderToString } from 'preact-render-to-string';
import { MutableBotIndex } from '../../../../src/catalogue/store/bot-store.ts';
import { AttentionList } from '../../../../src/desk/review/attention-list.tsx';
import type { Attention, AttentionItem } from '../../../../src/site/discover/attention.ts';
import { providePage } from '../../../../src/site/page/page-context.tsx';
import { openBrowserPage } from '../../../support/browser.ts';
import { testLanguages, testSite } from '../../../support/languages.ts';
import { checkAtWidths } from '../../../support/page-checks.ts';
import { botId } from '../../../support/sample.ts';
import { sampleBot } from '../../../support/sample-bot.ts';
import { needs } from '../../../support/tools.ts';

const since = Date.UTC(2026, 10, 3);
const bot = { bot: botId('7'), name: 'Seven \u202E<b>', fixPath: '/bots/7/edit' };
const message = 'has status 404';
const long = `https://a.example/${'long/'.repeat(60)}`;

const oneOfEach: readonly AttentionItem[] = [
  { ...bot, kind: 'administrator-added', values: { since } },
  {
    kind: 'faulty-file',
    bot: null,
    name: null,
    fixPath: null,
    values: { path: 'bots/<x>.md', message: '"a" & <b>: x' },
  },
  { ...bot, kind: 'near-duplicate', values: { same: 'both', others: '8, 9' } },
  { ...bot, kind: 'near-duplicate', values: { same: 'name', others: '10' } },
  { ...bot, kind: 'count-jump', values: { since, before: 30, after: 20_000 } },
  { ...bot, kind: 'image-failed', values: { key: 'cover', url: long, since, message } },
  {
    ...bot,
    kind: 'image-failed',
    values: { key: 'avatar', url: 'https://a.example/?a=1&b="', since, message },
  },
  { ...bot, kind: 'no-count', values: { days: 40 } },
];

function toAttention(items: readonly AttentionItem[], isComplete = true): Attention {
  return { groups: items.map((item) => ({ kind: item.kind, total: 1, items: [item] })), isComplete };
}

/** Has a name for one of the bots that others are like. */
const bots = new MutableBotIndex();
bots.set(sampleBot('8', { en: ['Bookworm', 'Reads.'] }));

function render(attention: Attention, locale = 'en'): string {
  const list = <AttentionList {...{ attention, bots }} />;
  return renderToString(
    providePage({ site: testSite, viewer: null }, testLanguages.choose(undefined, locale), list),
  );
}

describe('the list of what needs attention', () => {
  it('says of each item what is the matter, since when, and links to the form that fixes it', () => {
    const html = render(toAttention(oneOfEach));
    for (const part of [
      /<h2>Ask for Administrator since a change <span class="muted">1<\/span><\/h2>/,
      /<a href="\/bots\/7"><bdi>Seven &lt;b><\/bdi><\/a> Asks for Administrator, and did not on <bdi>November 3, 2026<\/bdi>/,
      /<li> Error in <bdi>bots\/&lt;x>\.md<\/bdi> <span class="muted" lang="en" dir="ltr">&quot;a&quot; &amp; &lt;b>: x<\/span> <\/li>/,
      /Same name and invite as <a href="\/bots\/8"><bdi>Bookworm<\/bdi><\/a>, <a href="\/bots\/9"><bdi>9<\/bdi>/,
      /Same name as <a href="\/bots\/10"><bdi>10<\/bdi>/,
      /<bdi>November 3, 2026<\/bdi>: from 30 to 20,000/,
      /<bdi>Cover<\/bdi>: <a dir="ltr" href="https:\/\/a\.example\/long/,
      /<bdi>Avatar<\/bdi>: <a dir="ltr" href="https:\/\/a\.example\/\?a=1&amp;b=&quot;">/,
      /40 days without a new count +<a href="\/bots\/7\/edit">Suggest an edit<\/a>/,
    ])
      match(html, part);
    strictEqual(html.match(/<a href="\/bots\/7\/edit">/g)?.length, 7);
    doesNotMatch(html, /\u202E|<b>/);
  });

  it('folds a kind with more than ten items, and says how many are not shown', () => {
    const item = oneOfEach[0];
    const items = item ? [item] : [];
    const withTotal = (total: number): string =>
      render({ groups: [{ kind: 'no-count', total, items }], isComplete: true });
    match(withTotal(10), /<details class="panel" open/);
    match(withTotal(11), /<details class="panel"><summary>/);
    match(withTotal(12_000), /1 of 12,000 are shown/);
  });

  it('says that nothing needs attention, and that Git cannot be read', () => {
    match(render({ groups: [], isComplete: true }), /Nothing needs attention\./);
    match(render(toAttention([], false)), /Git cannot be read/);
  });

  needs('chromium', it)('has no violation that axe finds, and nothing wider than the page', async () => {
    const css = readFileSync('assets/site.css', 'utf8');
    const page = await openBrowserPage();
    const body = `<main><h1>Review</h1>${render(toAttention(oneOfEach, false), 'ar')}</main>`;
    await page.setContent(
      `<!doctype html><html lang="ar" dir="rtl"><title>Review</title><meta name="viewport" content="width=device-width"><style>${css}</style>${body}`,
    );
    await checkAtWidths(page, 'what needs attention', [1280, 320]);
  });
});
