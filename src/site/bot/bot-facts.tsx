import type { VNode } from 'preact';
import { readInvite } from '../../bot/permissions.ts';
import { formatOwnName } from '../language/locales.ts';
import { useLanguage } from '../language/page-language.tsx';
import { toSourceAddress } from '../page/addresses.ts';
import { withoutBidiControls } from '../page/bidi.ts';
import { Fact } from '../page/fact.tsx';
import { type ListedBot, useNoCount } from '../front/card.tsx';
import type { ShownBotProps } from './bot-page.tsx';

/** What decides whether a bot is worth a try, in one strip. */
export function BotFacts(props: ShownBotProps): VNode {
  const { bot, editedAge, reportedAge } = props;
  const { t, href, ago, categoryName } = useLanguage();
  const noCount = useNoCount(reportedAge);
  return (
    <dl class="bot-facts">
      <Fact name={t('bot.serverCount')}>{useServerCount(props)}</Fact>
      <Fact name={t('bot.category')}>
        <a href={href(`/categories/${bot.category}`)}>{categoryName(bot.category)}</a>
      </Fact>
      <Fact name={t('bot.howToUse')}>{useUsage(props)}</Fact>
      <Fact name={t('bot.source')}>{useSource(bot)}</Fact>
      {reportedAge !== undefined && (
        <Fact name={t('bot.lastReport')}>
          {noCount ? <strong class="warning">{noCount}</strong> : ago(0, reportedAge)}
        </Fact>
      )}
      <Fact name={t('bot.edited')}>
        <time dateTime={new Date(bot.edited).toISOString()}>{ago(0, editedAge)}</time>
      </Fact>
      <Fact name={t('bot.language')}>
        <LanguagesOfBot {...props} />
      </Fact>
    </dl>
  );
}

/** Says in how many servers a bot is; null where that is not known. For components only. */
export function useServerCount({ count, growth }: Pick<ShownBotProps, 'count' | 'growth'>): VNode | null {
  const { integer } = useLanguage();
  if (count === undefined) return null;
  return (
    <>
      {integer(count)} {growth !== undefined && <CountGrowth growth={growth} />}
    </>
  );
}

/** By how much the count has changed, unless that is less than half a percent. */
function CountGrowth({ growth }: { readonly growth: number }): VNode | null {
  const { t } = useLanguage();
  if (Math.abs(growth) < 0.005) return null;
  return (
    <span class={growth > 0 ? 'growth up' : 'growth'}>
      {growth > 0 ? '▲' : '▼'} {t('card.percent', { change: Math.abs(growth) })}{' '}
      <span class="out-of-sight">{t(growth > 0 ? 'bot.more' : 'bot.fewer')}</span>
    </span>
  );
}

/** A link to the source code of a bot; null where it is not open. For components only. */
export function useSource({ codehost }: ListedBot['bot']): VNode | null {
  const { t } = useLanguage();
  const address = toSourceAddress(codehost);
  if (address === null) return null;
  return (
    <a href={address} rel="nofollow ugc noopener">
      {t('bot.openSource', { host: 'GitHub' })}
    </a>
  );
}

/** Says how a bot is used: by what its record and its invite link say, nothing where they do not. For components only. */
export function useUsage({ bot, locale }: Pick<ListedBot, 'bot' | 'locale'>): VNode | null {
  const { t } = useLanguage();
  const { prefix, customisable, mentionable } = bot.trigger;
  const hasCommands = readInvite(bot.invite)?.commands ?? false;
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
      {hasCommands && t('bot.slashCommands')}
      {hasPrefix && customisable && <small class="muted">{t('bot.customisable')}</small>}
    </>
  );
}

/** The language that the page is in, then links to the others. Many are folded away. */
function LanguagesOfBot({ bot, locale }: ShownBotProps): VNode {
  const { t, publicPath } = useLanguage();
  const others = Object.keys(bot.contents).filter((other) => other !== locale);
  const current = <span lang={locale}>{formatOwnName(locale)}</span>;
  const links = (
    <ul class="links">
      {others.map((other) => (
        <li key={other}>
          <a href={publicPath(`/bots/${bot.id}?locale=${other}`)} lang={other} hreflang={other}>
            {formatOwnName(other)}
          </a>
        </li>
      ))}
    </ul>
  );
  if (others.length <= fewLanguages)
    return (
      <div class="languages-of-bot">
        {current} {others.length > 0 && links}
      </div>
    );
  return (
    <details>
      <summary>
        {current} · {t('bot.otherLanguages', { count: others.length })}
      </summary>
      {links}
    </details>
  );
}

const fewLanguages = 3;
