import type { VNode } from 'preact';
import type { CountAt } from '../../counts/count-history.ts';
import type { BotId } from '../../bot/id.ts';
import type { Locale } from '../../bot/locale.ts';
import { findDefaultLocale } from '../../bot/record.ts';
import type { BotRecord } from '../../bot/schema-types.ts';
import type { TrustChange } from '../../catalogue/changes/bot-changes.ts';
import type { IndexedBot } from '../../catalogue/store/bot-index.ts';
import type { Fault } from '../../catalogue/page/fault.ts';
import { Cards, type ListedBot } from '../front/card.tsx';
import type { ShownCollection } from '../front/collections.ts';
import { createBotMeta } from './bot-meta.ts';
import { useLanguage } from '../language/page-language.tsx';
import type { Heading } from '../markdown/headings.ts';
import type { Html } from '../markdown/markdown.ts';
import { withoutBidiControls } from '../page/bidi.ts';
import { toComparePath, toFeedPath, translatePath } from '../page/addresses.ts';
import { assets } from '../page/assets.ts';
import { BotImage } from '../page/bot-image.tsx';
import { Breadcrumb } from '../page/breadcrumb.tsx';
import { Faults } from '../page/faults.tsx';
import { Layout, type PageProps } from '../page/layout.tsx';
import type { NameLinkProps } from '../page/links.tsx';
import { Prose } from '../page/prose.tsx';
import { BotFacts } from './bot-facts.tsx';
import { BotHead } from './bot-head.tsx';
import { BotPanels } from './bot-panels.tsx';

export interface BotPageProps extends PageProps {
  readonly bot: BotRecord;
  /** The language to show it in, one of the bot's. */
  readonly locale: Locale;
  /** Whether that is not the language of the reader, in which the bot has no page. */
  readonly isForeign: boolean;
  readonly count: number | undefined;
  /** By how much of itself the count has grown in 30 days. */
  readonly growth: number | undefined;
  /** The counts of the last 90 days, as far as there are any. */
  readonly counts: readonly CountAt[];
  /** What matters for trust and changed in the last 90 days. */
  readonly trustChanges: readonly TrustChange[];
  /** How long ago the bot reported its count; milliseconds. */
  readonly reportedAge: number | undefined;
  /** How long ago its listing was updated; milliseconds. */
  readonly editedAge: number;
  /** The bot's page in that language. */
  readonly html: Html;
  readonly headings: readonly Heading[];
  /** Its authors who have a name. */
  readonly authors: readonly NameLinkProps[];
  readonly sameAuthor: readonly IndexedBot[];
  /** Some of those that have the bot. */
  readonly collections: readonly ShownCollection[];
  readonly similar: readonly ListedBot[];
  /** Whether its images are blurred. */
  readonly blurImages: boolean;
  /** The address of its picture for previews of links; undefined where no images are made. */
  readonly shareCard: string | undefined;
  /** The faults of its files, for their editor only. */
  readonly faults: readonly Fault[];
}

/** With the texts of the bot in the language of the page, ready to be shown. */
export interface ShownBotProps extends BotPageProps {
  readonly name: string;
  readonly description: string;
}

export function BotPage(props: BotPageProps): VNode {
  const { site, viewer, bot, locale, isForeign, blurImages, faults } = props;
  const { text, categoryName } = useLanguage();
  const { name: given = '', description = '', page = '' } = bot.contents[locale] ?? {};
  const name = withoutBidiControls(given);
  const shown = { ...props, name, description: withoutBidiControls(description) };
  const category = text('list.category', { category: categoryName(bot.category) });
  const feed = { title: text('changes.of', { name }), path: toFeedPath('bot', bot.id) };
  const meta = { ...createBotMeta(shown, category), feed };
  return (
    <Layout site={site} viewer={viewer} title={name} meta={meta} script={assets.copyScript.path}>
      <Breadcrumb category={bot.category} />
      <article class="bot">
        {faults.length > 0 && <Faults faults={faults} advice="bot.lastValid" />}
        <BotHead {...shown} />
        <BotFacts {...shown} />
        {isForeign && <OtherLanguage {...props} />}
        {blurImages && <Veil {...props} />}
        <div class="bot-body">
          <Screenshots {...shown} />
          <Prose {...props} text={page} />
          <BotPanels {...shown} />
        </div>
      </article>
      <Similar {...props} />
    </Layout>
  );
}

/** Says which language the page is in, with a link to translate it into that of the reader, if a page may be in that. */
function OtherLanguage({ site, bot, locale }: BotPageProps): VNode {
  const { t, href, languageName, locale: own } = useLanguage();
  const { languages } = site.settings;
  return (
    <p class="muted">
      {t('bot.pageLanguage', { language: languageName(locale) })}{' '}
      {site.hasForms && (languages === null || languages.includes(own)) && (
        <a
          href={href(translatePath(bot.id as BotId, locale === findDefaultLocale(bot) ? undefined : locale))}
        >
          {t('bot.translateInto', { language: languageName(own) })}
        </a>
      )}
    </p>
  );
}

/** Says why the images are blurred, with a link that shows them. */
function Veil({ bot, locale }: BotPageProps): VNode | null {
  const { t } = useLanguage();
  const { avatar, cover, preview } = bot.cachedImages;
  if (avatar === null && cover === null && preview.length === 0) return null;
  return (
    <p class="notice">
      {t('bot.blurred')} <a href={`?locale=${locale}&pictures=shown`}>{t('bot.showImages')}</a>
    </p>
  );
}

/** Screenshots in one row that scrolls, each a link to its full size. */
function Screenshots({ bot, blurImages, name }: ShownBotProps): VNode | null {
  const { t, text } = useLanguage();
  const images = bot.cachedImages.preview;
  if (images.length === 0) return null;
  return (
    <section class="screenshots" aria-labelledby="screenshots">
      <h2 id="screenshots" class="out-of-sight">
        {t('bot.screenshots')}
      </h2>
      <ul>
        {images.map((path, i) => (
          <li key={path}>
            <a href={path}>
              <BotImage
                path={path}
                alt={text('bot.screenshot', { number: i + 1, name })}
                width={640}
                height={360}
                small={320}
                larger={{ sizes: '(min-width: 60rem) 19rem, 15rem', full: 1280 }}
                lazy={i > 2}
                blurred={blurImages}
              />
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Similar({ bot, similar }: BotPageProps): VNode | null {
  const { t, href } = useLanguage();
  if (similar.length === 0) return null;
  const comparePath = toComparePath([bot, ...similar.map((other) => other.bot)].map(({ id }) => id));
  return (
    <section class="similar" aria-labelledby="similar">
      <h2 id="similar">{t('bot.similar')}</h2>
      <Cards bots={similar} heading="h3" atOnce={0} />
      <p>
        <a class="button quiet" rel="nofollow" href={href(comparePath)}>
          {t('compare.similar')}
        </a>
      </p>
    </section>
  );
}
