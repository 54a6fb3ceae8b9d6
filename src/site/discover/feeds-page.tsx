import type { VNode } from 'preact';
import type { CatalogueSizes } from '../../catalogue/lists/lists.ts';
import { useLanguage } from '../language/page-language.tsx';
import { feedsPath, listOwnLanguages, sitePaths, toFeedPath, toPathInLanguage } from '../page/addresses.ts';
import { assets } from '../page/assets.ts';
import { CopyField } from '../page/elements.tsx';
import { Layout, type PageProps } from '../page/layout.tsx';

/** What a feed is, and the addresses of all feeds, to copy into a program that reads them. */
export function FeedsPage({ site, viewer, ...sizes }: PageProps & CatalogueSizes): VNode {
  const language = useLanguage();
  const { t, text, locale, categories, categoryName } = language;
  const [title, description] = [text('feeds.title'), text('feeds.text')];
  const own = listOwnLanguages(site.canonicalUrl + feedsPath, language);
  const meta = { ...own, title, description, locale, isListed: true };
  const feeds = [
    [text('feed.newBots'), sitePaths.newBots],
    ...categories
      .filter((category) => sizes.categories.has(category))
      .map((category) => [
        text('feed.newInCategory', { category: categoryName(category) }),
        toFeedPath('category', category),
      ]),
    [text('changes.of', { name: 'BOT' }), toFeedPath('bot', 'BOT')],
    [text('feed.byAuthor', { author: 'AUTHOR' }), toFeedPath('author', 'AUTHOR')],
    [text('feeds.collection', { name: 'COLLECTION' }), toFeedPath('collection', 'COLLECTION')],
  ] as const;
  return (
    <Layout {...{ site, viewer, title, meta }} script={assets.copyScript.path}>
      <div class="narrow stack">
        <h1>{title}</h1>
        <p>{description}</p>
        {feeds.map(([label = '', path = ''], i) => (
          <CopyField
            key={path}
            id={`feed-${i}`}
            label={label}
            value={site.baseUrl + toPathInLanguage(path, locale, site.settings.language)}
          />
        ))}
        <p>{t('feeds.words', { bot: 'BOT', author: 'AUTHOR', collection: 'COLLECTION' })}</p>
        <p class="muted" role="status" id="copied" />
      </div>
    </Layout>
  );
}
