import { deepStrictEqual, notStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import type { BotIndex } from '../../../src/catalogue/store/bot-index.ts';
import { MutableBotIndex } from '../../../src/catalogue/store/bot-store.ts';
import type { Document } from '../../../src/http/representation.ts';
import { CurrentCache } from '../../../src/lib/current-cache.ts';
import { readSitemap, type SitemapLimits } from '../../../src/site/discover/sitemap.ts';
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

async function bytesOf({ body }: Document): Promise<Buffer> {
  return Buffer.isBuffer(body) ? body : await buffer(body.read());
}
const urlsIn = (xml: Buffer): XmlElement[] => childrenOf(parseXml(xml.toString()), 'url');
const urlsOf = async (document: Document): Promise<XmlElement[]> => urlsIn(await bytesOf(document));
const locOf = (url: XmlElement): string => textsOf(url, 'loc')[0] ?? '';

const openSitemap = (
  bots: BotIndex,
  limits?: SitemapLimits,
  cache = new CurrentCache(),
): ReturnType<typeof readSitemap> =>
  readSitemap({ cache, collections: { all: new Map() }, bots, baseUrl, ...(limits && { limits }) });

describe('the sitemap', () => {
  it('has the pages of the site and of every bot, with the day of the last edit', async () => {
    const bots = indexOf(
      sampleBot('7', undefined, { category: 'music', created: 0, edited: 1_700_000_000_000 }),
      sampleBot('8', undefined, { nsfw: true }),
    );
    const { main, parts } = await openSitemap(bots);
    strictEqual(parts.length, 0);
    strictEqual(main.type, 'application/xml; charset=utf-8');
    const root = parseXml((await bytesOf(main)).toString());
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
    strictEqual((await urlsOf(none.main)).length, 3);
    const far = indexOf(sampleBot('7', undefined, { edited: 8_640_000_000_000_000 }));
    const urls = await urlsOf((await openSitemap(far)).main);
    strictEqual(urls.flatMap((url) => textsOf(url, 'lastmod')).join(' '), '9999-12-31T23:59:59.000Z');
  });

  it('is cut into compressed parts within the limits, and an index names them all', async () => {
    const bots = indexOf(
      ...Array.from({ length: 60 }, (_, i) =>
        sampleBot(String(i), i % 3 === 0 ? { en: ['A', 'x'], de: ['B', 'x'] } : undefined, { edited: i }),
      ),
    );
    const whole = await openSitemap(bots);
    const limits = fc.record({
      addresses: fc.integer({ min: 2, max: 100 }),
      bytes: fc.integer({ min: 1500, max: 40_000 }),
    });
    await fc.assert(
      fc.asyncProperty(limits, async (limits) => {
        const { main, parts } = await openSitemap(bots, limits);
        const files = parts.length === 0 ? [await bytesOf(main)] : parts.map(({ body }) => gunzipSync(body));
        ok(parts.length !== 1);
        for (const file of files) {
          ok(urlsIn(file).length <= limits.addresses);
          ok(file.length <= limits.bytes);
        }
        deepStrictEqual(files.flatMap(urlsIn), await urlsOf(whole.main));
        if (parts.length === 0) return;
        const index = childrenOf(parseXml((await bytesOf(main)).toString()), 'sitemap');
        deepStrictEqual(
          index.map(locOf),
          parts.map((_part, i) => `${baseUrl}/sitemaps/${i + 1}.xml.gz`),
        );
      }),
      { numRuns: 30 },
    );
  });

  it('is whole where it is too large for one piece @slow', async () => {
    const bots = indexOf(...Array.from({ length: 12_000 }, (_, i) => sampleBot(String(i))));
    const { main, parts } = await openSitemap(bots);
    strictEqual(parts.length, 0);
    ok(!Buffer.isBuffer(main.body));
    strictEqual((await urlsOf(main)).length, 12_000 + 6);
  });

  it('says of a part when a bot in it was last edited, and nothing of a part without bots', async () => {
    const bots = indexOf(...[3000, 2000].map((edited, i) => sampleBot(String(i), undefined, { edited })));
    const limits = { addresses: 5, bytes: 50_000 };
    const { main } = await openSitemap(bots, limits);
    const index = childrenOf(parseXml((await bytesOf(main)).toString()), 'sitemap');
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
