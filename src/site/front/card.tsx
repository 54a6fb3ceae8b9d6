import type { VNode } from 'preact';
import type { Locale } from '../../bot/locale.ts';
import { readInvite } from '../page/permissions.ts';
import type { BotListElement } from '../../bot/schema-types.ts';
import { directionOf } from '../language/locales.ts';
import { useLanguage } from '../language/page-language.tsx';
import { withoutBidiControls } from '../page/bidi.ts';
import { Avatar } from '../page/bot-image.tsx';
import { CheckMark } from '../page/check-mark.tsx';

export interface CardProps {
  readonly bot: BotListElement;
  /** The language to show it in, one of the bot's. */
  readonly locale: Locale;
  /** Whether to name that language, because the reader may not know it. */
  readonly namesLanguage: boolean;
  readonly count: number | undefined;
  /** By how much of itself the count has grown in 30 days. */
  readonly growth: number | undefined;
  /** Whether to say when the bot was updated. */
  readonly saysAge: boolean;
  /** The level of its heading. */
  readonly heading: 'h2' | 'h3';
  /** Whether it is below the fold. */
  readonly lazy: boolean;
}

/** A bot of a list, ready to be shown. */
export type ListedBot = Omit<CardProps, 'saysAge' | 'heading' | 'lazy'>;

export interface CardsProps {
  readonly bots: readonly ListedBot[];
  /** The level of their headings. */
  readonly heading: CardProps['heading'];
  /** How many of them a large screen shows without scrolling. */
  readonly atOnce: number;
}

/** A list of bots as cards. */
export function Cards({ bots, heading, atOnce }: CardsProps): VNode {
  return (
    <ul class="cards">
      {bots.map((bot, i) => (
        <Card key={bot.bot.id} {...bot} saysAge heading={heading} lazy={i >= atOnce} />
      ))}
    </ul>
  );
}

/** A bot in a list. The whole card is a link to its page. */
export function Card(props: CardProps): VNode {
  const { bot, locale, count, growth, saysAge, heading: Heading, lazy } = props;
  const { t, text, href, day, daysAgo, categoryName } = useLanguage();
  const { name = '', description = '' } = bot.contents[locale] ?? {};
  const shown = withoutBidiControls(name);
  const language = { lang: locale, dir: directionOf(locale) };
  const avatar = {
    id: bot.id,
    name: shown,
    image: bot.cachedImages.avatar,
    size: 56,
    blurred: bot.nsfw,
    lazy,
  };
  return (
    <li>
      <article class="card">
        <Avatar {...avatar} />
        <div>
          <Heading>
            <a href={href(`/bots/${bot.id}`)} {...language}>
              {shown}
            </a>
            {bot.verified && <CheckMark size={16} label={text('bot.verified')} />}
          </Heading>
          <ul class="facts">
            <li>{categoryName(bot.category)}</li>
            {(count !== undefined || growth !== undefined) && (
              <li>
                {count !== undefined && <Servers count={count} />}{' '}
                {growth !== undefined && <Growth growth={growth} />}
              </li>
            )}
            {bot.nsfw && (
              <li>
                <span class="tag adult">{t('bot.adult')}</span>
              </li>
            )}
          </ul>
        </div>
        <p class="about" {...language}>
          {withoutBidiControls(description)}
        </p>
        <div class="foot">
          <Tags {...props} />
          {saysAge && (
            <time dateTime={new Date(bot.edited).toISOString()} title={day(bot.edited)}>
              {t('card.updated', { ago: daysAgo(bot.edited, Date.now()) })}
            </time>
          )}
        </div>
      </article>
    </li>
  );
}

/** A short number to see, and the whole one for screen readers. */
function Servers({ count }: { readonly count: number }): VNode {
  const { t } = useLanguage();
  return (
    <>
      <span aria-hidden="true">{t('bot.shortServers', { count })}</span>
      <span class="out-of-sight">{t('bot.servers', { count })}</span>
    </>
  );
}

function Growth({ growth }: { readonly growth: number }): VNode | null {
  const { t } = useLanguage();
  const percent = Math.round(Math.abs(growth) * 100);
  if (percent === 0) return null;
  const change = Math.abs(growth);
  return (
    <>
      <span class={growth > 0 ? 'growth up' : 'growth'} aria-hidden="true">
        {growth > 0 ? '▲' : '▼'} {t('card.percent', { change })}
      </span>
      <span class="out-of-sight">{t(growth > 0 ? 'card.grown' : 'card.shrunk', { change })}</span>
    </>
  );
}

/** The first few of: whether the bot asks for everything, its language, how it is used, whether its source is open, how many languages it has. */
function Tags({ bot, locale, namesLanguage }: CardProps): VNode | null {
  const { t, languageName } = useLanguage();
  const { owner, repo } = bot.codehost;
  const { fullControl = false, commands = false } = readInvite(bot.invite) ?? {};
  const [prefix] = bot.trigger.prefix;
  const languages = Object.keys(bot.contents).length;
  const tags = [
    fullControl && <li class="tag warning">{t('card.fullControl')}</li>,
    namesLanguage && <li class="tag">{languageName(locale)}</li>,
    prefix !== undefined && (
      <li class="tag">{t('card.prefix', { prefix: withoutBidiControls(prefix.trim()) })}</li>
    ),
    prefix === undefined && bot.trigger.mentionable && <li class="tag">{t('card.mention')}</li>,
    commands && <li class="tag">{t('card.commands')}</li>,
    owner !== null && repo !== null && <li class="tag good">{t('card.openSource')}</li>,
    languages > 1 && <li class="tag">{t('card.languages', { count: languages })}</li>,
  ].filter(Boolean);
  return tags.length === 0 ? null : <ul class="tags">{tags.slice(0, maxTags)}</ul>;
}

const maxTags = 3;
