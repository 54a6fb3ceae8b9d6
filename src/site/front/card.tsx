import type { VNode } from 'preact';
import type { BotListElement } from '../../bot/schema-types.ts';
import type { Locale } from '../../bot/locale.ts';
import { Avatar } from '../picture/avatar.tsx';
import { withoutBidiControls } from '../page/bidi.ts';
import { directionOf } from '../language/locales.ts';
import { useLanguage } from '../language/page-language.tsx';

export interface CardProps {
  readonly bot: BotListElement;
  /** The language to show it in, one of the bot's. */
  readonly locale: Locale;
  readonly count: number | undefined;
}

/** A bot in a list. The whole card is a link to its page. @param props lazy: whether it is below the fold */
export function Card({ bot, locale, count, lazy }: CardProps & { readonly lazy: boolean }): VNode {
  const { t, text, href } = useLanguage();
  const { name = '', description = '' } = bot.contents[locale] ?? {};
  const shown = withoutBidiControls(name);
  const language = { lang: locale, dir: directionOf(locale) };
  return (
    <li>
      <article class="card">
        <Avatar
          id={bot.id}
          name={shown}
          picture={bot.cachedImages.avatar}
          size={64}
          veiled={bot.nsfw}
          lazy={lazy}
        />
        <div>
          <h3>
            <a href={href(`/bots/${bot.id}`)} {...language}>
              {shown}
            </a>
            {bot.verified && <CheckMark />}
          </h3>
          <ul class="facts">
            <li>{t(`category.${bot.category}`)}</li>
            {count !== undefined && (
              <li title={text('bot.servers', { count })}>{t('bot.shortServers', { count })}</li>
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
      </article>
    </li>
  );
}

function CheckMark(): VNode {
  const { text } = useLanguage();
  return (
    <svg
      class="check-mark"
      width="16"
      height="16"
      viewBox="0 0 16 16"
      role="img"
      aria-label={text('bot.verified')}
    >
      <circle cx="8" cy="8" r="8" fill="currentColor" />
      <path d="m4.5 8.3 2.4 2.4 4.6-5" fill="none" stroke="var(--surface)" stroke-width="1.8" />
    </svg>
  );
}
