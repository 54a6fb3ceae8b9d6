import { deepStrictEqual } from 'node:assert/strict';
import { renderToString } from 'preact-render-to-string';
import type { FilledMainPage } from '../../../src/bot/record.ts';
import type { Locale } from '../../../src/bot/locale.ts';
import { parseListElement } from '../../../src/catalogue/store/bot-index.ts';
import { Card } from '../../../src/site/front/card.tsx';
import { inEnglish } from '../../support/languages.ts';
import { sampleBot } from '../../support/sample-bot.ts';

const invite = 'https://discord.com/oauth2/authorize?client_id=42&scope=bot';

/** Returns the texts of the tags on the card of a bot. */
function tagsOf(keys: Partial<FilledMainPage>, reportedAt?: number): string[] {
  return textsIn(/<li class="tag[^>]*>(.*?)<\/li>/g, keys, reportedAt);
}

/** Returns what a pattern matches in the card of a bot, without the markup. */
function textsIn(pattern: RegExp, keys: Partial<FilledMainPage>, reportedAt?: number): string[] {
  const props = {
    bot: parseListElement(sampleBot('42', undefined, keys)),
    locale: 'en' as Locale,
    namesLanguage: false,
    count: undefined,
    growth: undefined,
    reportedAt,
    saysAge: true,
    lazy: false,
  };
  const html = renderToString(inEnglish(<Card {...props} heading="h2" />));
  return [...html.matchAll(pattern)].map(([, text = '']) => text.replaceAll(/<.*?>/g, ''));
}

describe('a card', () => {
  it('states slash commands where the invite link does, beside a prefix too', () => {
    const trigger = { prefix: ['!'], customisable: false, mentionable: false };
    const commands = `${invite}%20applications.commands`;
    deepStrictEqual(tagsOf({ invite }), []);
    deepStrictEqual(tagsOf({ invite: 'https://example.org/' }), []);
    deepStrictEqual(tagsOf({ invite: commands }), ['Slash commands']);
    deepStrictEqual(tagsOf({ invite, trigger }), ['Prefix !']);
    deepStrictEqual(tagsOf({ invite: commands, trigger }), ['Prefix !', 'Slash commands']);
  });

  it('begins with full control, and has three tags at most', () => {
    const keys = {
      invite: `${invite}+applications.commands&permissions=8`,
      trigger: { prefix: ['!'], customisable: false, mentionable: false },
      codehost: { owner: 'ada', repo: 'homer' },
    };
    deepStrictEqual(tagsOf(keys), ['Full control', 'Prefix !', 'Slash commands']);
  });

  it('says when a count was reported, on the day after it', () => {
    const edited = Date.now() - 2 * day;
    const agesOf = (reportedAt?: number): string[] =>
      textsIn(/<time[^>]*>(.*?)<\/time>/g, { edited }, reportedAt);
    deepStrictEqual(agesOf(Date.now() - 20 * 60_000), ['Count updated 20 minutes ago']);
    deepStrictEqual(agesOf(Date.now() - 23 * 3_600_000), ['Count updated 23 hours ago']);
    deepStrictEqual(agesOf(Date.now() - day), ['Updated 2 days ago']);
    deepStrictEqual(agesOf(), ['Updated 2 days ago']);
  });

  it('marks a bot that has reported no count for as long as the settings name', () => {
    deepStrictEqual(tagsOf({ invite }, Date.now() - 29 * day), []);
    deepStrictEqual(tagsOf({ invite }, Date.now() - 31 * day), ['No count for 31 days']);
    const powerful = { invite: `${invite}&permissions=8` };
    deepStrictEqual(tagsOf(powerful, Date.now() - 400 * day), ['Full control', 'No count for 400 days']);
  });
});

const day = 86_400_000;
