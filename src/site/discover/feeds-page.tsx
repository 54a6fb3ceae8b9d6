import type { VNode } from 'preact';
import type { CatalogueSizes } from '../../catalogue/lists/lists.ts';
import { feedsPath, sitePaths, toFeedPath, toPathInLanguage } from '../page/addresses.ts';
import { CopyField } from '../page/elements.tsx';
import { createOwnMeta } from '../page/head.tsx';
import type { AddPage } from '../page/html-response.ts';
import { Layout } from '../page/layout.tsx';
import { useLanguage, useVisit, type PageParts } from '../page/page-context.tsx';

/** Adds the page that explains feeds. */
export function addFeedsPage(addPage: AddPage, { lists }: PageParts): void {
  addPage(feedsPath, async () => {
    const sizes = await lists.sizes(false);
    return { key: { page: feedsPath }, render: async () => <FeedsPage {...sizes} /> };
  });
}

/** Explains feeds, and lists the addresses of all feeds to copy into a feed reader. */
function FeedsPage(sizes: CatalogueSizes): VNode {
  const language = useLanguage();
  const { site } = useVisit();
  const { t, text, locale, categories, categoryName } = language;
  const [title, description] = [text('feeds.title'), text('feeds.text')];
  const meta = createOwnMeta(site.canonicalUrl + feedsPath, language, { title, description });
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
    <Layout
      meta={meta}
      script="copyScript"
      head={
        <>
          <h1>{title}</h1>
          <p class="whole">{description}</p>
        </>
      }
    >
      <div class="narrow stack">
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
