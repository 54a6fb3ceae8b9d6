import type { ComponentChildren, VNode } from 'preact';
import type { BotListElement } from '../../../schemas/types.ts';
import { readInvite } from '../../bot/invite.ts';
import type { Locale } from '../../bot/locale.ts';
import { directionOf } from '../language/locales.ts';
import { useLanguage } from '../language/page-language.tsx';
import { Avatar } from '../page/bot-image.tsx';
import { withoutBidiControls, Byline, CheckMark, type NameLinkProps } from '../page/elements.tsx';

interface CardProps {
  readonly bot: BotListElement;
  /** The language to show it in, one of the bot's. */
  readonly locale: Locale;
  /** Whether to name that language, because the reader may not know it. */
  readonly namesLanguage?: boolean;
  readonly count: number | undefined;
  /** By how much of itself the count has grown in 30 days. */
  readonly growth: number | undefined;
  /** Its authors who have a name. */
  readonly authors?: readonly NameLinkProps[];
  /** When the bot last reported a count; left out if the page is not rendered again for that. */
  readonly reportedAt?: number | undefined;
  /** Whether to say when the bot reported a count or was updated. */
  readonly saysAge?: boolean;
  /** Whether it can be ticked, for `CompareForm`. */
  readonly canBeTicked?: boolean;
  /** The level of its heading. */
  readonly heading: 'h2' | 'h3';
  /** Whether all of the list are by one author, which its cards do not say then. */
  readonly hidesAuthors?: boolean;
  /** Whether it is below the fold. */
  readonly lazy?: boolean;
}

/** A bot of a list, ready to be shown. */
export type ListedBot = Omit<CardProps, 'saysAge' | 'canBeTicked' | 'heading' | 'hidesAuthors' | 'lazy'>;

export interface CardsProps extends Pick<CardProps, 'canBeTicked' | 'heading' | 'hidesAuthors'> {
  readonly bots: readonly ListedBot[];
  /** How many of them a large screen shows without scrolling. */
  readonly atOnce: number;
}

/** A list of bots as cards. */
export function Cards({ bots, atOnce, ...others }: CardsProps): VNode {
  return (
    <ul class="cards">
      {bots.map((bot, i) => (
        <Card key={bot.bot.id} {...bot} {...others} saysAge lazy={i >= atOnce} />
      ))}
    </ul>
  );
}

/** A bot in a list. The whole card is a link to its page. */
export function Card(props: CardProps): VNode {
  const {
    bot,
    locale,
    authors = [],
    count,
    growth,
    saysAge,
    canBeTicked,
    heading: Heading,
    lazy = false,
  } = props;
  const { t, text, href, categoryName } = useLanguage();
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
          {!props.hidesAuthors && <Byline authors={authors} isLinked={false} />}
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
          {saysAge && <Age {...props} />}
        </div>
        {canBeTicked && (
          <label class="tick" title={text('compare.tick', { bot: shown })}>
            <span class="out-of-sight">{t('compare.tick', { bot: shown })}</span>
            <input type="checkbox" name="bots" value={bot.id} form={compareFormId} />
          </label>
        )}
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

/** Compares the bots that are ticked. */
export function CompareForm(): VNode {
  const { t, publicPath, requested } = useLanguage();
  return (
    <form class="progress compare-ticked" id={compareFormId} action={publicPath('/compare')}>
      {requested !== undefined && <input type="hidden" name="locale" value={requested} />}
      <button type="submit">{t('compare.title')}</button>
      <span class="muted">{t('compare.number')}</span>
    </form>
  );
}

const compareFormId = 'ticked';

/** When the bot reported a count, on the day after it, else when it was updated. */
function Age({ bot, reportedAt = 0 }: CardProps): VNode {
  const { t, ago, day, daysAgo } = useLanguage();
  const now = Date.now();
  const isFresh = now - reportedAt < msPerDay;
  const time = isFresh ? reportedAt : bot.edited;
  return (
    <time dateTime={new Date(time).toISOString()} title={day(time)}>
      {isFresh ? t('card.reported', { ago: ago(time, now) }) : t('card.updated', { ago: daysAgo(time, now) })}
    </time>
  );
}

/**
 * Says for how many days a bot has reported no count, where they are as many as the settings name. For components only.
 * @param reportedAge how long ago it reported one; milliseconds
 */
export function useNoCount(reportedAge: number | undefined): ComponentChildren {
  const { t, inactiveDays } = useLanguage();
  const days = Math.floor((reportedAge ?? 0) / msPerDay);
  return days >= inactiveDays && t('card.noCount', { days });
}

const msPerDay = 86_400_000;

/** The first few of: whether the bot asks for everything, has no new count, its language, how it is used, whether its source is open, how many languages it has. */
function Tags({ bot, locale, namesLanguage, reportedAt }: CardProps): VNode | null {
  const { t, languageName } = useLanguage();
  const { owner, repo } = bot.codehost;
  const { fullControl = false, commands = false } = readInvite(bot.invite) ?? {};
  const [prefix] = bot.trigger.prefix;
  const languages = Object.keys(bot.contents).length;
  const noCount = useNoCount(reportedAt && Date.now() - reportedAt);
  const tags = [
    fullControl && <li class="tag warning">{t('card.fullControl')}</li>,
    noCount && <li class="tag warning">{noCount}</li>,
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
