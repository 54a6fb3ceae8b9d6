import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import { renderToString } from 'preact-render-to-string';
import type { BotListElement, CachedImages } from '../../../schemas/types.ts';
import type { Locale } from '../../../src/bot/locale.ts';
import { parseListElement } from '../../../src/catalogue/store/bot-index.ts';
import { assets } from '../../../src/site/page/assets.ts';
import { Head, type PageMeta } from '../../../src/site/page/head.tsx';
import { type FrontQuery, noQuery } from '../../../src/site/front/front-query.ts';
import { createListMeta } from '../../../src/site/front/list-page.tsx';
import { createBotMeta, type DescribedBot } from '../../../src/site/bot/bot-page.tsx';
import { inEnglish, testLanguages, testSite } from '../../support/languages.ts';
import { sampleBot } from '../../support/sample-bot.ts';

const baseUrl = 'https://bots.example.org';
const pictures: CachedImages = {
  avatar: '/appdata/a.webp',
  cover: '/appdata/c.webp',
  preview: ['/appdata/1.webp'],
};

function botOf(keys: Parameters<typeof sampleBot>[2] = {}, cachedImages = pictures): BotListElement {
  const texts = { en: ['Homer', 'Answers.'], fr: ['Homère', 'Répond.'], 'zh-CN': ['荷马', '回答'] } as const;
  const bot = parseListElement(sampleBot('42', texts, keys));
  return { ...bot, cachedImages };
}

const site = testSite;
const texts = { name: 'Homer', description: 'Answers.', locale: 'en' as Locale };
const described = { ...texts, count: 156, shareCard: undefined, authors: [] };
const metaOf = (more: Partial<DescribedBot> = {}): PageMeta =>
  createBotMeta(site, { ...described, bot: botOf(), ...more }, 'Fun bots');
const listMeta = (query: Partial<FrontQuery>): PageMeta =>
  createListMeta(
    { ...testLanguages.choose(undefined, 'en'), site },
    { ...noQuery, ...query },
    { title: 'Fun bots', description: '30 bots.' },
  );

interface Tag {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Returns the elements in the head of a page, as a browser parses them. */
function tagsOf(meta: PageMeta | undefined): Tag[] {
  const head = renderToString(inEnglish(<Head title="Homer" meta={meta} isUnlisted={false} />));
  const document = parse(`<!doctype html><html>${head}<body></body></html>`);
  const html = document.childNodes.find(
    ({ nodeName }) => nodeName === 'html',
  ) as DefaultTreeAdapterTypes.Element;
  const [top, body] = html.childNodes as DefaultTreeAdapterTypes.Element[];
  strictEqual(body?.childNodes.length, 0, 'nothing ends the head');
  return (top?.childNodes ?? []).map((node) => {
    const { nodeName, attrs, childNodes } = node as DefaultTreeAdapterTypes.Element;
    const texts = (childNodes as DefaultTreeAdapterTypes.TextNode[]).map(({ value }) => value);
    const attributes = Object.fromEntries(attrs.map(({ name, value }) => [name, value]));
    return { name: nodeName, attributes, text: texts.join('') };
  });
}

const contentOf = (tags: readonly Tag[], name: string): string | undefined =>
  tags.find(({ attributes }) => (attributes['property'] ?? attributes['name']) === name)?.attributes[
    'content'
  ];
const linksOf = (tags: readonly Tag[], rel: string): Tag['attributes'][] =>
  tags.filter(({ attributes }) => attributes['rel'] === rel).map(({ attributes }) => attributes);
/** Returns the languages of a page, each with its address. */
const languagesOf = (tags: readonly Tag[]): unknown[] =>
  linksOf(tags, 'alternate').flatMap(({ hreflang, href }) => (hreflang ? [[hreflang, href]] : []));
type Data = Readonly<Record<string, unknown>>;
const dataOf = (tags: readonly Tag[], type: string): Data | undefined =>
  tags
    .filter(({ attributes }) => attributes['type'] === 'application/ld+json')
    .map(({ text }) => JSON.parse(text) as Data)
    .find((data) => data['@type'] === type);

describe('the head of a page', () => {
  it('links to feed, manifest, search and icons, and says no more of a page that nobody shares', () => {
    const tags = tagsOf(undefined);
    deepStrictEqual(
      linksOf(tags, 'alternate').map(({ type, href }) => [type, href]),
      [['application/atom+xml', '/feeds/new.atom']],
    );
    deepStrictEqual(
      ['manifest', 'search', 'apple-touch-icon'].map((rel) => linksOf(tags, rel)[0]?.['href']),
      ['/site.webmanifest', '/opensearch.xml', '/apple-touch-icon.png'],
    );
    deepStrictEqual(
      linksOf(tags, 'icon').map(({ href }) => href),
      ['/favicon.ico', assets.icon.path],
    );
    strictEqual(tags.filter(({ attributes }) => attributes['name'] === 'theme-color').length, 2);
    strictEqual(contentOf(tags, 'og:title'), undefined);
  });

  describe('of a bot', () => {
    it('has its title and description for previews of a link', () => {
      const tags = tagsOf(metaOf());
      for (const [name, content] of Object.entries({
        description: 'Answers.',
        'og:title': 'Homer',
        'og:description': 'Answers.',
        'og:url': `${baseUrl}/bots/42`,
        'og:locale': 'en_US',
      }))
        strictEqual(contentOf(tags, name), content, name);
    });

    const shareCard = `${baseUrl}/bots/42/card.png?locale=en&v=1`;
    const cover = `${baseUrl}/appdata/c.webp`;
    const noCover = { bot: botOf({}, { ...pictures, cover: null }) };
    const noPicture = { bot: botOf({}, { avatar: null, cover: null, preview: [] }) };
    for (const [what, meta, image, card] of [
      ['its cover', {}, cover, 'summary_large_image'],
      ['its cover, not its share card', { shareCard }, cover, 'summary_large_image'],
      ['its share card where it has no cover', { ...noCover, shareCard }, shareCard, 'summary_large_image'],
      ['its avatar where no images are made', noCover, `${baseUrl}/appdata/a.webp`, 'summary'],
      ['no picture where it has none', noPicture, undefined, 'summary'],
    ] as const)
      it(`has ${what} for previews of a link`, () => {
        const tags = tagsOf(metaOf(meta));
        deepStrictEqual(
          ['og:image', 'twitter:card'].map((name) => contentOf(tags, name)),
          [image, card],
        );
      });

    it('has no picture of a bot for adults anywhere, as a chat would show it to anyone', () => {
      const meta = metaOf({ bot: botOf({ nsfw: true }) });
      ok(!JSON.stringify(meta).includes('appdata'));
      const tags = tagsOf(meta);
      strictEqual(contentOf(tags, 'rating'), 'adult');
      strictEqual(dataOf(tags, 'SoftwareApplication')?.['isFamilyFriendly'], false);
    });

    it('has an address of its own in each language, and names them all', () => {
      const page = `${baseUrl}/bots/42`;
      for (const [locale, address] of [
        ['en', page],
        ['fr', `${page}?locale=fr`],
        ['zh-CN', `${page}?locale=zh-CN`],
      ] as const) {
        const tags = tagsOf(metaOf({ locale: locale as Locale }));
        strictEqual(linksOf(tags, 'canonical')[0]?.['href'], address);
        deepStrictEqual(languagesOf(tags), [
          ['en', page],
          ['fr', `${page}?locale=fr`],
          ['zh-CN', `${page}?locale=zh-CN`],
          ['x-default', page],
        ]);
      }
    });

    it('describes an application with true facts only', () => {
      const bot = botOf({
        category: 'games',
        created: 0,
        edited: 1000,
        website: 'https://homer.example.org/',
      });
      deepStrictEqual(dataOf(tagsOf(metaOf({ bot })), 'SoftwareApplication'), {
        '@context': 'https://schema.org',
        '@type': 'SoftwareApplication',
        '@id': `${baseUrl}/bots/42`,
        url: `${baseUrl}/bots/42`,
        name: 'Homer',
        description: 'Answers.',
        inLanguage: 'en',
        applicationCategory: 'GameApplication',
        datePublished: '1970-01-01T00:00:00.000Z',
        dateModified: '1970-01-01T00:00:01.000Z',
        isFamilyFriendly: true,
        installUrl: 'https://example.org/',
        image: `${baseUrl}/appdata/a.webp`,
        screenshot: [`${baseUrl}/appdata/1.webp`],
        sameAs: 'https://homer.example.org/',
        interactionStatistic: {
          '@type': 'InteractionCounter',
          interactionType: { '@type': 'InstallAction' },
          userInteractionCount: 156,
        },
      });
      const unknown = dataOf(tagsOf(metaOf({ count: undefined })), 'SoftwareApplication');
      ok(unknown && !('interactionStatistic' in unknown) && !('aggregateRating' in unknown));
    });

    it('has the way to the page', () => {
      const items = dataOf(tagsOf(metaOf()), 'BreadcrumbList')?.['itemListElement'] as Data[];
      deepStrictEqual(
        items.map(({ position, name, item }) => `${String(position)} ${String(name)} ${String(item)}`),
        [`1 Botshelf ${baseUrl}/`, `2 Fun bots ${baseUrl}/categories/fun`, `3 Homer ${baseUrl}/bots/42`],
      );
    });

    it('reads back any text of a bot as it is, and none ends the data', () => {
      const ends = ['</script><script>alert(1)</script>', '<!--<script>', ']]>', '"><img src=x>'];
      const hostile = fc.constantFrom(...ends, '\u2028', '&lt;/script&gt;');
      const text = fc.oneof(hostile, fc.string());
      fc.assert(
        fc.property(text, text, (name, description) => {
          const tags = tagsOf(metaOf({ name, description }));
          const data = dataOf(tags, 'SoftwareApplication');
          deepStrictEqual([data?.['name'], data?.['description']], [name, description]);
          const scripts = tags.filter((tag) => tag.name === 'script');
          strictEqual(scripts.length, 2);
          for (const { attributes } of scripts) deepStrictEqual(attributes, { type: 'application/ld+json' });
          strictEqual(contentOf(tags, 'og:title'), name);
        }),
      );
    });
  });

  describe('of a list', () => {
    it('describes the site and its search on the front page', () => {
      const tags = tagsOf(listMeta({}));
      strictEqual(linksOf(tags, 'canonical')[0]?.['href'], `${baseUrl}/`);
      const { potentialAction } = dataOf(tags, 'WebSite') as {
        potentialAction: { target: { urlTemplate: string }; 'query-input': string };
      };
      strictEqual(potentialAction.target.urlTemplate, `${baseUrl}/?q={search_term_string}`);
      strictEqual(potentialAction['query-input'], 'required name=search_term_string');
    });

    it('has the feed of its category, and is listed by search engines', () => {
      const tags = tagsOf(listMeta({ category: 'fun', page: 2 }));
      deepStrictEqual(
        linksOf(tags, 'alternate').flatMap(({ type, href }) => (type === undefined ? [] : [href])),
        ['/feeds/new.atom', '/feeds/category/fun.atom'],
      );
      strictEqual(contentOf(tags, 'robots'), undefined);
      strictEqual(linksOf(tags, 'canonical')[0]?.['href'], `${baseUrl}/categories/fun?page=2`);
    });

    it('is not listed where it is the result of a search', () => {
      strictEqual(contentOf(tagsOf(listMeta({ q: 'fun' })), 'robots'), 'noindex');
    });

    it('names the languages of the interface', () => {
      deepStrictEqual(languagesOf(tagsOf(listMeta({}))), [
        ...testLanguages.locales.map((locale) => [locale, `${baseUrl}/?locale=${locale}`]),
        ['x-default', `${baseUrl}/`],
      ]);
    });
  });
});
