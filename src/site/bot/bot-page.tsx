import type { VNode } from 'preact';
import type { Locale } from '../../bot/locale.ts';
import type { BotRecord } from '../../bot/schema-types.ts';
import type { Fault } from '../../catalogue/page/fault.ts';
import { Avatar } from '../picture/avatar.tsx';
import { withoutBidiControls } from '../page/bidi.ts';
import { BotFacts } from './bot-facts.tsx';
import { botMeta } from '../head/page-meta.ts';
import { Faults } from '../page/faults.tsx';
import { Layout, type Site, type Viewer } from '../page/layout.tsx';
import { directionOf } from '../language/locales.ts';
import type { Heading } from '../markdown/headings.ts';
import type { Html } from '../markdown/markdown.ts';
import { useLanguage } from '../language/page-language.tsx';
import { productName } from '../page/product-name.ts';
import { Prose } from '../page/prose.tsx';
import { Picture } from '../picture/picture.tsx';

export interface BotPageProps {
  readonly site: Site;
  readonly viewer: Viewer | null;
  readonly bot: BotRecord;
  /** The language to show it in, one of the bot's. */
  readonly locale: Locale;
  readonly count: number | undefined;
  /** The bot's page in that language. */
  readonly html: Html;
  readonly headings: readonly Heading[];
  /** Whether its images are blurred. */
  readonly veiled: boolean;
  /** The faults of its files, for their editor only. */
  readonly faults: readonly Fault[];
  /** The public address, without a slash at its end. */
  readonly baseUrl: string;
}

export function BotPage(props: BotPageProps): VNode {
  const { site, viewer, bot, locale, veiled, faults } = props;
  const { t, text } = useLanguage();
  const { name = '', description = '' } = bot.contents[locale] ?? {};
  const shown = { name: withoutBidiControls(name), description: withoutBidiControls(description) };
  const language = { lang: locale, dir: directionOf(locale) };
  const { avatar, cover } = bot.cachedImages;
  const category = text('list.category', { category: text(`category.${bot.category}`) });
  const crumbs = { front: productName, category };
  return (
    <Layout site={site} viewer={viewer} title={shown.name} meta={botMeta({ ...props, ...shown, crumbs })}>
      <article class="bot">
        {faults.length > 0 && <Faults faults={faults} advice="bot.lastValid" />}
        {cover !== null && (
          <div class="cover">
            <img class={veiled ? 'veiled' : undefined} src={cover} alt="" width="1280" height="400" />
          </div>
        )}
        <header class="bot-head">
          <Avatar id={bot.id} name={shown.name} picture={avatar} size={96} veiled={veiled} />
          <div class="title">
            <h1 {...language}>{shown.name}</h1>
            {(bot.verified || bot.nsfw) && (
              <p>
                {bot.verified && <span class="tag">{t('bot.verified')}</span>}{' '}
                {bot.nsfw && <span class="tag adult">{t('bot.adult')}</span>}
              </p>
            )}
          </div>
          <p class="about" {...language}>
            {shown.description}
          </p>
          <Actions bot={bot} />
        </header>
        <div class="bot-body">
          {veiled && <Veil bot={bot} locale={locale} />}
          <Prose {...props} text={bot.contents[locale]?.page ?? ''} />
          <Previews {...props} name={shown.name} />
        </div>
        <BotFacts {...props} />
      </article>
    </Layout>
  );
}

function Actions({ bot }: { readonly bot: BotRecord }): VNode {
  const { t } = useLanguage();
  return (
    <ul class="actions">
      <li>
        <a class="button" href={bot.invite} rel="nofollow ugc noopener">
          {t('bot.invite')}
        </a>
      </li>
      {bot.website !== null && (
        <li>
          <a class="button quiet" href={bot.website} rel="nofollow ugc noopener">
            {t('bot.website')}
          </a>
        </li>
      )}
      {bot.support !== null && (
        <li>
          <a class="button quiet" href={bot.support} rel="nofollow ugc noopener">
            {t('bot.support')}
          </a>
        </li>
      )}
    </ul>
  );
}

interface NamedProps extends BotPageProps {
  readonly name: string;
}

/** Says why the images are blurred, with a link that shows them. */
function Veil({ bot, locale }: Pick<BotPageProps, 'bot' | 'locale'>): VNode | null {
  const { t } = useLanguage();
  const { avatar, cover, preview } = bot.cachedImages;
  if (avatar === null && cover === null && preview.length === 0) return null;
  return (
    <p class="notice">
      {t('bot.blurred')} <a href={`?locale=${locale}&pictures=shown`}>{t('bot.showImages')}</a>
    </p>
  );
}

function Previews({ bot, veiled, name }: NamedProps): VNode | null {
  const { t, text } = useLanguage();
  const { preview } = bot.cachedImages;
  if (preview.length === 0) return null;
  return (
    <section aria-labelledby="previews">
      <h2 id="previews">{t('bot.screenshots')}</h2>
      <ul class="previews">
        {preview.map((path, i) => (
          <li key={path}>
            <a href={path}>
              <Picture
                path={path}
                alt={text('bot.screenshot', { number: i + 1, name })}
                width={640}
                height={360}
                small={320}
                larger={{ sizes: '11rem', full: 1280 }}
                lazy
                veiled={veiled}
              />
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
