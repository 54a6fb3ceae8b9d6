import { deepStrictEqual, doesNotMatch, match } from 'node:assert/strict';
import { renderToString } from 'preact-render-to-string';
import type { FilledMainPage } from '../../../src/bot/record.ts';
import type { Locale } from '../../../src/bot/locale.ts';
import { parseListElement } from '../../../src/catalogue/store/bot-index.ts';
import { Cards, type ListedBot } from '../../../src/site/front/card.tsx';
import { inEnglish } from '../../support/languages.ts';
import { sampleBot } from '../../support/sample-bot.ts';

const invite = 'https://discord.com/oauth2/authorize?client_id=42&scope=bot';
const codehost = { owner: 'ada', repo: 'homer' };
const trigger = { prefix: ['!'], customisable: false, mentionable: false };

type Keys = Partial<FilledMainPage> &
  Partial<Pick<ListedBot, 'namesLanguage' | 'count' | 'growth' | 'reportedAt'>>;

/** Returns a list of bots as HTML. */
function renderCards(bots: readonly Keys[]): string {
  const listed = bots.map(({ namesLanguage = false, count, growth, reportedAt, ...keys }, i) => ({
    namesLanguage,
    count,
    growth,
    reportedAt,
    authors: [],
    bot: parseListElement(sampleBot(String(i + 1), undefined, keys)),
    locale: 'en' as Locale,
  }));
  return renderToString(inEnglish(<Cards bots={listed} heading="h2" atOnce={3} canBeTicked />));
}

/** Returns the texts of the tags on the cards of a list. */
function tagsOf(...bots: readonly Keys[]): string[] {
  return [...renderCards(bots).matchAll(/<li class="tag[^>]*>(.*?)<\/li>/g)].map(([, tag = '']) =>
    tag.replaceAll(/<span class="out.*?<\/span>|<.*?>/g, ''),
  );
}

describe('a card', () => {
  it('has two tags at most, warnings first', () => {
    deepStrictEqual(tagsOf({ invite }), []);
    deepStrictEqual(tagsOf({ invite, trigger, codehost, growth: 0.25 }), ['▲ 25% this month', 'Open source']);
    deepStrictEqual(tagsOf({ invite, trigger, growth: 0.09 }), ['Prefix !']);
    const powerful = { invite: `${invite}&permissions=8`, nsfw: true, codehost };
    deepStrictEqual(tagsOf(powerful), ['Full control', '18+']);
  });

  it('has no line about authors if none has a name', () =>
    doesNotMatch(renderCards([{ authors: ['1', '2'] }]), /class="by"/));

  it('has no tag that four of five bots of a long list have, but warnings and the language', () => {
    const plain = Array.from({ length: 10 }, (): Keys => ({ invite }));
    const open = (count: number): Keys[] => plain.map((bot, i) => (i < count ? { ...bot, codehost } : bot));
    deepStrictEqual(
      tagsOf(...open(7)),
      Array.from({ length: 7 }, () => 'Open source'),
    );
    deepStrictEqual(tagsOf(...open(8)), []);
    deepStrictEqual(new Set(tagsOf(...plain.map((bot) => ({ ...bot, nsfw: true })))), new Set(['18+']));
    const foreign = plain.map((bot) => ({ ...bot, namesLanguage: true }));
    deepStrictEqual(
      tagsOf(...foreign),
      Array.from({ length: 10 }, () => 'English'),
    );
  });

  it('marks a bot that has reported no count for as long as the settings name', () => {
    deepStrictEqual(tagsOf({ invite, reportedAt: Date.now() - 29 * day }), []);
    deepStrictEqual(tagsOf({ invite, reportedAt: Date.now() - 31 * day }), ['No count for 31 days']);
  });

  it('has the colour and the name of its category', () => {
    match(renderCards([{ category: 'music' }]), /<article class="card cat cat-music">.*<span>Music<\/span>/);
  });

  it('can be ticked, and the list ends in what compares the ticked ones', () => {
    const html = renderCards([{ count: 612_400 }]);
    match(html, /<input type="checkbox" name="bots" value="1" form="ticked"\/>.*Compare <bdi>/);
    match(html, /<li class="chosen"><form id="ticked" action="\/compare">.*<button [^>]*type="reset"/);
    match(html, /612K servers<\/span><span class="out-of-sight">612,400 servers/);
  });
});

const day = 86_400_000;
