import type { VNode } from 'preact';
import { formatIsoTime } from '../../bot/clock.ts';
import { readInvite } from '../../bot/invite.ts';
import { withoutBidiControls } from '../../lib/text.ts';
import { formatNoCount, type ListedBot } from '../front/card.tsx';
import { formatOwnName } from '../language/messages.tsx';
import { toSourceAddress } from '../page/addresses.ts';
import { Fact } from '../page/elements.tsx';
import { usePage } from '../page/page-context.tsx';
import { toCommandsPath } from './bot-commands.tsx';
import type { BotView } from './bot-panels.tsx';

/** The facts for deciding whether to try a bot: always the same six, with a dash for unknown ones. */
export function BotFacts(view: BotView): VNode {
  const { bot, editedAge, reportedAge } = view;
  const context = usePage();
  const { t, href, ago, categoryName } = context;
  const noCount = formatNoCount(reportedAge, context);
  const source = toSourceAddress(bot.codehost);
  return (
    <dl class="bot-facts six">
      <Fact name={t('bot.serverCount')}>
        {useServerCount(view) ?? unknown}
        {noCount && <small class="warning">{noCount}</small>}
      </Fact>
      <Fact name={t('bot.category')}>
        <a href={href(`/categories/${bot.category}`)}>{categoryName(bot.category)}</a>
      </Fact>
      <Fact name={t('bot.howToUse')}>{useUsage(view) ?? unknown}</Fact>
      <Fact name={t('bot.source')}>
        {source === null ? (
          unknown
        ) : (
          <a href={source} rel="nofollow ugc noopener">
            {t('bot.openSource', { host: 'GitHub' })}
          </a>
        )}
      </Fact>
      <Fact name={t('bot.edited')}>
        <time dateTime={formatIsoTime(bot.edited)}>{ago(0, editedAge)}</time>
      </Fact>
      <Fact name={t('bot.language')}>
        <LanguagesOfBot {...view} />
      </Fact>
    </dl>
  );
}

const unknown = '–';

/** Formats the number of a bot's servers; null if unknown. Only for components. */
export function useServerCount({ count, growth }: Pick<ListedBot, 'count' | 'growth'>): VNode | null {
  const { integer } = usePage();
  if (count === undefined) return null;
  return (
    <>
      {integer(count)} {growth !== undefined && <CountGrowth growth={growth} />}
    </>
  );
}

/** The growth of the count; nothing below half a percent. */
function CountGrowth({ growth }: { readonly growth: number }): VNode | null {
  const { t } = usePage();
  if (Math.abs(growth) < 0.005) return null;
  return (
    <span class={growth > 0 ? 'growth up' : 'growth'}>
      {growth > 0 ? '▲' : '▼'} {t('card.percent', { change: Math.abs(growth) })}{' '}
      <span class="out-of-sight">{t(growth > 0 ? 'bot.more' : 'bot.fewer')}</span>
    </span>
  );
}

/** Describes how a bot is used, by its commands, its record and its invite link; empty if these do not say. Only for components. */
export function useUsage({
  bot,
  locale,
  usages = [],
}: Pick<ListedBot, 'bot' | 'locale'> & Partial<Pick<BotView, 'usages'>>): VNode | null {
  const { length: count } = usages;
  const { t, href } = usePage();
  const { prefix, customisable, mentionable } = bot.trigger;
  const hasCommands = count > 0 || (readInvite(bot.invite)?.commands ?? false);
  const hasPrefix = prefix.length > 0;
  if (!hasPrefix && !mentionable && !hasCommands) return null;
  const mention = <bdi>@{withoutBidiControls(bot.contents[locale]?.name ?? '')}</bdi>;
  return (
    <>
      {prefix.map((text) => (
        <>
          <kbd key={text} class="key" dir="auto">
            {withoutBidiControls(text)}
          </kbd>{' '}
        </>
      ))}
      {mentionable && (hasPrefix ? t('bot.or', { mention }) : mention)}
      {hasCommands && (hasPrefix || mentionable) && ' · '}
      {count > 0 ? (
        <a href={href(toCommandsPath(bot.id))}>{t('bot.commandCount', { count })}</a>
      ) : (
        hasCommands && t('bot.slashCommands')
      )}
      {hasPrefix && customisable && <small class="muted">{t('bot.customisable')}</small>}
    </>
  );
}

/** The language of the page, as a menu if there are others. */
function LanguagesOfBot({ bot, locale }: BotView): VNode {
  const { href } = usePage();
  const all = Object.keys(bot.contents);
  const others = all.filter((other) => other !== locale);
  const current = <span lang={locale}>{formatOwnName(locale, all)}</span>;
  if (others.length === 0) return current;
  return (
    <details class="menu">
      <summary>{current}</summary>
      <ul>
        {others.map((other) => (
          <li key={other}>
            <a href={href(`/bots/${bot.id}?locale=${other}`)} lang={other} hreflang={other}>
              {formatOwnName(other, all)}
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}
