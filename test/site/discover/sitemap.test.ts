import { deepStrictEqual, notStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import type { BotIndex } from '../../../src/catalogue/store/bot-index.ts';
import { MutableBotIndex } from '../../../src/catalogue/store/bot-store.ts';
import type { WholeDocument } from '../../../src/http/representation.ts';
import { CurrentCache } from '../../../src/lib/current-cache.ts';
import { readSitemap } from '../../../src/site/discover/sitemap.ts';
import { agePages } from '../../support/age-pages.ts';
import { botId } from '../../support/sample.ts';
import { sampleBot } from '../../support/sample-bot.ts';
import { childrenOf, parseXml, textsOf, type XmlElement } from '../../support/xml.ts';

const baseUrl = 'https://bots.example.org';

function indexOf(...bots: readonly ReturnType<typeof sampleBot>[]): MutableBotIndex {
  const index = new MutableBotIndex();
  for (const bot of bots) index.set(bot);
  return index;
}

const urlsIn = (xml: Buffer): XmlElement[] => childrenOf(parseXml(xml.toString()), 'url');
const urlsOf = ({ body }: WholeDocument): XmlElement[] => urlsIn(body);
const locOf = (url: XmlElement): string => textsOf(url, 'loc')[0] ?? '';

const openSitemap = (
  bots: BotIndex,
  maxFileBytes?: number,
  cache = new CurrentCache(),
): ReturnType<typeof readSitemap> =>
  readSitemap({
    cache,
    collections: { all: new Map() },
    bots,
    baseUrl,
    ...(maxFileBytes && { maxFileBytes }),
  });

describe('the sitemap', () => {
  it('has the pages of the site and of every bot, with the day of the last edit', async () => {
    const bots = indexOf(
      sampleBot('7', undefined, { category: 'music', created: 0, edited: 1_700_000_000_000 }),
      sampleBot('8', undefined, { nsfw: true }),
    );
    const { main, parts } = await openSitemap(bots);
    strictEqual(parts.length, 0);
    strictEqual(main.type, 'application/xml; charset=utf-8');
    const root = parseXml(main.body.toString());
    strictEqual(root.namespace, 'http://www.sitemaps.org/schemas/sitemap/0.9');
    const urls = childrenOf(root, 'url');
    const paths = '/ /add /docs /bots/7 /bots/8 /categories /categories/fun /categories/music /authors/1';
    strictEqual(urls.map((url) => locOf(url).replace(baseUrl, '')).join(' '), paths);
    const [seven] = urls.filter((url) => locOf(url).endsWith('/bots/7'));
    deepStrictEqual(seven && textsOf(seven, 'lastmod'), ['2023-11-14T22:13:20.000Z']);
    strictEqual(seven?.children.length, 2, 'no languages where there is one');
  });

  it('is well-formed without a single bot, and with years that no calendar has', async () => {
    const none = await openSitemap(indexOf());
    strictEqual(urlsOf(none.main).length, 3);
    const far = indexOf(sampleBot('7', undefined, { edited: 8_640_000_000_000_000 }));
    const urls = urlsOf((await openSitemap(far)).main);
    strictEqual(urls.flatMap((url) => textsOf(url, 'lastmod')).join(' '), '9999-12-31T23:59:59.000Z');
  });

  it('is cut into compressed parts within the limit, and an index names them all', async () => {
    const bots = indexOf(
      ...Array.from({ length: 60 }, (_, i) =>
        sampleBot(String(i), i % 3 === 0 ? { en: ['A', 'x'], de: ['B', 'x'] } : undefined, { edited: i }),
      ),
    );
    const whole = await openSitemap(bots);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1500, max: 40_000 }), async (maxBytes) => {
        const { main, parts } = await openSitemap(bots, maxBytes);
        const files = parts.length === 0 ? [main.body] : parts.map(({ body }) => gunzipSync(body));
        ok(parts.length !== 1);
        for (const file of files) ok(file.length <= maxBytes);
        deepStrictEqual(files.flatMap(urlsIn), urlsOf(whole.main));
        if (parts.length === 0) return;
        const index = childrenOf(parseXml(main.body.toString()), 'sitemap');
        deepStrictEqual(
          index.map(locOf),
          parts.map((_part, i) => `${baseUrl}/sitemaps/${i + 1}.xml.gz`),
        );
      }),
      { numRuns: 30 },
    );
  });

  it('says of a part when a bot in it was last edited, and nothing of a part without bots', async () => {
    const bots = indexOf(...[3000, 2000].map((edited, i) => sampleBot(String(i), undefined, { edited })));
    const { main } = await openSitemap(bots, 600);
    const index = childrenOf(parseXml(main.body.toString()), 'sitemap');
    deepStrictEqual(
      index.map((part) => textsOf(part, 'lastmod')),
      [['1970-01-01T00:00:03.000Z'], []],
    );
  });

  it('is made once in some seconds', async () => {
    const bots = indexOf(sampleBot('7'));
    const cache = new CurrentCache();
    const sitemap = async (): ReturnType<typeof readSitemap> => await openSitemap(bots, undefined, cache);
    const [before, same] = await Promise.all([sitemap(), sitemap()]);
    strictEqual(before, same);
    bots.delete(botId('7'));
    strictEqual(await sitemap(), before);
    agePages();
    notStrictEqual((await sitemap()).main.digest, before.main.digest);
  });
});
