import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import { renderToString } from 'preact-render-to-string';
import type { BotRecord } from '../../../schemas/types.ts';
import type { Locale } from '../../../src/bot/locale.ts';
import { toSettings } from '../../../src/catalogue/settings/settings.ts';
import { providePage, type Visit } from '../../../src/site/page/page-context.tsx';
import { inEnglish, testSite } from '../../support/languages.ts';
import { sampleBot } from '../../support/sample-bot.ts';
import { accountId } from '../../support/sample.ts';
import { listUsages } from '../../../src/site/bot/bot-commands.tsx';
import { BotPage } from '../../../src/site/bot/bot-page.tsx';
import type { BotView } from '../../../src/site/bot/bot-panels.tsx';

const record = JSON.parse(
  sampleBot('42', { en: ['Homer', 'Answers.'], fr: ['Homère', 'Répond.'] }, { nsfw: true }).record.toString(),
) as BotRecord;
const pictures = {
  avatar: '/appdata/a.webp',
  cover: '/appdata/c.webp',
  preview: ['/appdata/1.webp', '/appdata/2.webp'],
};

const props: BotView = {
  bot: { ...record, cachedImages: pictures },
  locale: 'en' as Locale,
  isForeign: false,
  name: 'Homer',
  description: 'Answers.',
  html: '<p>Text.</p>',
  count: 1234,
  growth: 0.04,
  reportedAge: 20 * 60_000,
  editedAge: 2 * 86_400_000,
  history: [],
  trustChanges: [],
  sameAuthor: [],
  collections: [],
  review: undefined,
  authors: [],
  screenshots: pictures.preview.map((path) => ({ path, width: 1280, height: 720 })),
  usages: [],
  similar: [],
  blurImages: false,
  shareCard: undefined,
  faults: [],
};
const render = (more: Partial<BotView> = {}, visit: Partial<Visit> = {}): string =>
  renderToString(inEnglish(<BotPage {...props} {...more} />, visit));
const images = (html: string): string[] => [...html.matchAll(/<img [^>]*appdata[^>]*>/g)].map(([tag]) => tag);

describe("a bot's page", () => {
  it('gives every picture a size, so that nothing moves when it comes', () => {
    const tags = images(render());
    strictEqual(tags.length, 6);
    for (const tag of tags) match(tag, /width="\d+" height="\d+"/);
  });

  it('has the first eight commands as they are typed, and leads to all', () => {
    const list = (count: number): string => {
      const all = Array.from({ length: count }, (_, i) => ({ name: `c${i}`, description: 'Plays' }));
      const commands = Buffer.from(JSON.stringify(all));
      return render({ usages: listUsages({ commands }, 'en' as Locale) });
    };
    match(list(1), /<li><code dir="auto"><b>\/c0<\/b><\/code><span dir="auto"> Plays<\/span><\/li>/);
    match(list(1), /How to use it<\/dt><dd><a href="\/bots\/42\/commands">1 command<\/a>/);
    const many = list(9);
    strictEqual(many.split('<code dir="auto">').length - 1, 8);
    match(many, /<a href="\/bots\/42\/commands">All 9 commands<\/a>/);
    doesNotMatch(list(8) + render(), /All \d commands/);
  });

  it('shows smaller copies, and the full ones where the screen needs them', () => {
    const html = render();
    match(
      html,
      /src="\/appdata\/a\.128\.webp" srcset="\/appdata\/a\.128\.webp 128w, \/appdata\/a\.webp 512w"/,
    );
    match(
      html,
      /src="\/appdata\/1\.640\.webp" srcset="\/appdata\/1\.640\.webp 640w, \/appdata\/1\.webp 1280w" sizes="\(max-width: 40rem\) 78vw, 498px"/,
    );
    match(html, /src="\/appdata\/c\.640\.webp" srcset="[^"]* 1280w"/);
    const upright = [{ path: '/appdata/1.webp', width: 405, height: 720 }];
    match(
      render({ screenshots: upright }),
      /<img src="\/appdata\/1\.webp" alt="[^"]*" width="405" height="720"\/>/,
    );
  });

  it('blurs every picture of a bot for adults, and leads to them', () => {
    const html = render({ blurImages: true });
    for (const tag of images(html)) match(tag, /class="veiled"/);
    match(html, /href="\?pictures=shown"/);
    match(html, /class="prose veiled-pictures"/);
    doesNotMatch(render(), /veiled/);
    const bare = {
      bot: { ...record, cachedImages: { avatar: null, cover: null, preview: [] } },
      screenshots: [],
    };
    doesNotMatch(render({ ...bare, blurImages: true }), /pictures=shown/);
    match(
      render({
        ...bare,
        blurImages: true,
        html: '<p><img src="/appdata/p.webp"></p>',
      }),
      /pictures=shown/,
    );
  });

  it('leads to the pictures in the language that the reader has, which may not be that of the page', () => {
    const shown = { ...props, blurImages: true, isForeign: true };
    const render = (requested?: Locale): string => {
      const language = { ...testSite.languages.choose(requested, 'de'), requested };
      return renderToString(providePage({ site: testSite, viewer: null }, language, <BotPage {...shown} />));
    };
    match(render(), /<html lang="de"[^]* href="\?pictures=shown"/);
    match(render('it' as Locale), /<html lang="it"[^]* href="\?pictures=shown&amp;locale=it"/);
  });

  it('has an initial where there is no avatar', () => {
    const html = render({
      bot: { ...record, cachedImages: { avatar: null, cover: null, preview: [] } },
      screenshots: [],
    });
    match(html, /<span class="avatar cat cat-\w+ tint-\d" aria-hidden="true">H<\/span>/);
    strictEqual(images(html).length, 0);
  });

  it('says how many servers the bot is in, and nothing where that is not known', () => {
    match(
      render(),
      /<dt>Servers<\/dt><dd>1,234 <span class="growth up">▲ 4% <span class="out-of-sight">more than it was 30 days ago<\/span>/,
    );
    match(render({ growth: -0.5 }), /▼ 50%/);
    doesNotMatch(render({ growth: 0.004 }), /class="growth/);
    match(render({ count: undefined, reportedAge: undefined }), /<dt>Servers<\/dt><dd>–<\/dd>/);
  });

  describe('where one can log in', () => {
    const site = { ...testSite, login: true };
    it('leads a visitor to log in, and to the token', () =>
      match(render({}, { site }), /href="\/login"[^]*href="\/bots\/42\/token"/));

    it('leads an author to the token, and nobody else who is logged in', () => {
      match(
        render({}, { site, viewer: { id: accountId('1'), name: 'Ada', authenticatedAt: 0 } }),
        /href="\/bots\/42\/token"/,
      );
      const html = render({}, { site, viewer: { id: accountId('2'), name: '<Bob>', authenticatedAt: 0 } });
      doesNotMatch(html, /\/token"/);
      match(html, /&lt;Bob>/);
    });
  });

  it('has the facts before the pictures, and the permissions as a sentence before the text, as on a phone', () => {
    const bot = { ...props.bot, invite: 'https://discord.com/oauth2/authorize?client_id=42&permissions=8' };
    const html = render({ bot });
    const places = ['<h1>', 'class="bot-facts ', 'id="screenshots"', 'id="permissions"', 'class="prose"'];
    deepStrictEqual(
      places.map((part) => html.indexOf(part)),
      places.map((part) => html.indexOf(part)).toSorted((a, b) => a - b),
    );
    ok(places.every((part) => html.includes(part)));
  });

  it('says how to use the bot as its record and its invite link say, a dash where they do not', () => {
    const usage = (scope: string, trigger: Partial<BotRecord['trigger']>): string | undefined => {
      const invite = `https://discord.com/oauth2/authorize?client_id=42&scope=${scope}`;
      const html = render({ bot: { ...props.bot, invite, trigger: { ...props.bot.trigger, ...trigger } } });
      return /How to use it<\/dt><dd>(.*?)<\/dd>/.exec(html)?.[1]?.replaceAll(/<.*?>/g, '').trim();
    };
    strictEqual(usage('bot', {}), '–');
    strictEqual(usage('bot+applications.commands', {}), 'Slash commands');
    strictEqual(usage('bot', { prefix: ['!'] }), '!');
    const both = usage('bot+applications.commands', { prefix: ['!'], mentionable: true });
    strictEqual(both, '! or @Homer · Slash commands');
  });

  it('warns of full control beside the button that adds the bot, and on its card', () => {
    const invite = 'https://discord.com/oauth2/authorize?client_id=42&scope=bot&permissions=';
    const warned = { ...props.bot, invite: `${invite}8` };
    const facts = { count: undefined, growth: undefined, authors: [] };
    const card = { ...facts, locale: props.locale, namesLanguage: false };
    const similar = [{ bot: warned, ...card }];
    doesNotMatch(render({ similar }), /Full control/, 'one card is no shelf');
    const html = render({ bot: warned, similar: [...similar, { bot: { ...warned, id: '43' }, ...card }] });
    match(html, /aria-describedby="signs">Add to server</);
    match(
      html,
      /<a id="signs" class="signs" href="#permissions"><span class="harm">.*?Asks for full control of your server/,
    );
    match(html, /<li class="tag warning">Full control<\/li>/);
    doesNotMatch(render({ bot: { ...props.bot, invite: `${invite}16` } }), /[Ff]ull control/);
  });

  it('says that it is not in the language of the reader, and invites to translate it where that may be added', () => {
    const locale = 'fr' as Locale;
    match(
      render({ locale, isForeign: true }),
      /This page is in <bdi>French<\/bdi>\. <a href="\/bots\/42\/translate\?from=fr">Translate it into <bdi>English<\/bdi><\/a>/,
    );
    const site = { ...testSite, settings: toSettings({ languages: ['fr'] }) };
    const html = render({ locale, isForeign: true }, { site });
    match(html, /This page is in <bdi>French<\/bdi>/);
    doesNotMatch(html, /Translate it into/);
    doesNotMatch(render({ locale }), /This page is in/);
  });

  it('leads to its report form, or to what the settings name: with the bot in a mail', () => {
    const link = (settings: Parameters<typeof toSettings>[0]): string =>
      /href="([^"]*)">Report</.exec(
        render({}, { site: { ...testSite, contact: 'op@example.org', settings: toSettings(settings) } }),
      )?.[1] ?? '';
    const mail =
      '?subject=Report%3A%20Homer%20(42)&amp;body=https%3A%2F%2Fbots.example.org%2Fbots%2F42%0A%0A';
    strictEqual(link({}), '/bots/42/report');
    strictEqual(link({ links: { report: 'mailto:report@example.org' } }), `mailto:report@example.org${mail}`);
    strictEqual(link({ links: { report: 'https://example.org/report' } }), 'https://example.org/report');
  });

  it('says when the count was reported and the listing updated', () => {
    match(render(), /Count updated <bdi>20 minutes ago<\/bdi>/);
    match(render(), /<time [^>]*>2 days ago<\/time>/);
  });

  it('names its authors, and who last reviewed it', () => {
    const authors = [{ path: '/authors/1', name: 'Arvid' }];
    const review = { reviewer: 'Marge', time: Date.UTC(2026, 4, 15), changed: undefined };
    const html = render({ authors, review });
    match(
      html,
      /by .*Arvid.*<a class="stamp" href="\/bots\/42\/changes">Reviewed by <bdi>Marge<\/bdi> <b>May 15, 2026<\/b>/,
    );
    doesNotMatch(html, /changed since|<\/a> · \d/);
    doesNotMatch(render({ authors }), /class="stamp/);
    const bot = { ...props.bot, authors: ['1', '2', '3'] };
    match(render({ bot, authors }), /by .*Arvid<\/bdi><\/a> · 3 authors<\/p>/);
    match(render({ bot, authors: [] }), /<p class="by">3 authors<\/p>/);
    const since = render({ review: { ...review, changed: Date.UTC(2026, 4, 16) } });
    match(
      since,
      /<a class="stamp changed"[^>]*>Reviewed by .*May 15, 2026.*<b>changed since, .*May 16, 2026/,
    );
  });

  it('links its tick to what verified means', () => {
    const html = render({ bot: { ...props.bot, verified: true } });
    match(html, /<a class="verified" href="#verified" aria-label="Verified: what this means">/);
    match(html, /<p id="verified"/);
    doesNotMatch(render(), /href="#verified/);
  });

  it('has its other languages in a menu', () => {
    const content = { name: 'Homer', description: 'Answers.', page: '' };
    const locales = ['en', 'fr', 'de', 'ja', 'ar', 'ru'];
    const contents = Object.fromEntries(locales.map((locale) => [locale, content]));
    match(
      render({ bot: { ...props.bot, contents } }),
      /<summary><span lang="en">English<\/span><\/summary>(?:<ul>|<li>.*?<\/li>){6}<\/ul>/,
    );
  });
});
