import type { VNode } from 'preact';
import type { CatalogueSizes } from '../../catalogue/lists/lists.ts';
import type { PageLanguage } from '../language/languages.ts';
import { listLinkedCollections, showCollection } from '../front/collections.tsx';
import { feedsPath, sitePaths, toFeedPath, toPathInLanguage } from '../page/addresses.ts';
import { findExample } from '../page/docs-page.tsx';
import { CopyField, listNamedAuthors } from '../page/elements.tsx';
import { withoutBidiControls } from '../../lib/text.ts';
import { createOwnMeta } from '../page/head.tsx';
import type { AddPage } from '../page/html-response.ts';
import { Layout } from '../page/layout.tsx';
import { usePage, type PageParts } from '../page/page-context.tsx';

/** A label and a path. */
type NamedFeed = readonly [string, string];

/** Adds the page that explains feeds. */
export function addFeedsPage(addPage: AddPage, parts: PageParts): void {
  addPage(feedsPath, (ctx) => {
    const language = parts.site.languages.of(ctx);
    const render = async (): Promise<VNode> => (
      <FeedsPage sizes={await parts.lists.sizes(false)} examples={await listExamples(parts, language)} />
    );
    return { key: { page: feedsPath }, render };
  });
}

/** Lists the feeds of a bot, of an author of it who has a name, and of a collection, if the list has any. */
async function listExamples(parts: PageParts, { text, locale }: PageLanguage): Promise<NamedFeed[]> {
  const examples: NamedFeed[] = [];
  const { id, facts } = (await findExample(parts.lists)) ?? {};
  if (id && facts)
    examples.push([text('changes.of', { name: withoutBidiControls(facts.name) }), toFeedPath('bot', id)]);
  const author = facts?.authors.find((id) => parts.authors.findProfile(id)) ?? '';
  for (const { name } of listNamedAuthors(parts.authors, [author]))
    examples.push([text('feed.byAuthor', { author: name }), toFeedPath('author', author)]);
  for (const { collection } of listLinkedCollections(parts).slice(0, 1)) {
    const { name, title } = showCollection(collection, [locale]);
    examples.push([text('feeds.collection', { name: title }), toFeedPath('collection', name)]);
  }
  return examples;
}

interface FeedsPageProps {
  readonly sizes: CatalogueSizes;
  readonly examples: readonly NamedFeed[];
}

/** Explains feeds, and lists addresses to copy into a feed reader. */
function FeedsPage({ sizes, examples }: FeedsPageProps): VNode {
  const context = usePage();
  const { site, t, text, locale, categories, categoryName } = context;
  const [title, description] = [text('feeds.title'), text('feeds.text')];
  const meta = createOwnMeta(site.canonicalUrl + feedsPath, context, { title, description });
  const feeds = categories
    .filter((category) => sizes.categories.has(category))
    .map((category): NamedFeed => [
      text('feed.newInCategory', { category: categoryName(category) }),
      toFeedPath('category', category),
    ]);
  const toField = ([label, path]: NamedFeed): VNode => (
    <CopyField
      key={path}
      id={`feed-${path}`}
      label={label}
      value={site.baseUrl + toPathInLanguage(path, locale, site.settings.language)}
    />
  );
  return (
    <Layout meta={meta} script="copyScript" lead={<p class="whole">{description}</p>}>
      <div class="narrow stack">
        {toField([text('feed.newBots'), sitePaths.newBots])}
        {feeds.map(toField)}
        {examples.length > 0 && <p>{t('feeds.words')}</p>}
        {examples.map(toField)}
        <p class="muted" role="status" id="copied" />
      </div>
    </Layout>
  );
}
