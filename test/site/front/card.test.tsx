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
function tagsOf(keys: Partial<FilledMainPage>): string[] {
  const props = {
    bot: parseListElement(sampleBot('42', undefined, keys)),
    locale: 'en' as Locale,
    namesLanguage: false,
    count: undefined,
    growth: undefined,
    saysAge: false,
    lazy: false,
  };
  const html = renderToString(inEnglish(<Card {...props} heading="h2" />));
  return [...html.matchAll(/<li class="tag[^>]*>(.*?)<\/li>/g)].map(([, tag = '']) =>
    tag.replaceAll(/<.*?>/g, ''),
  );
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
});
