import type { VNode } from 'preact';
import { readInvite } from '../page/permissions.ts';
import { formatLocaleName } from '../language/locales.ts';
import { useLanguage } from '../language/page-language.tsx';
import { toSourceAddress } from '../page/addresses.ts';
import { withoutBidiControls } from '../page/bidi.ts';
import { Fact } from '../page/fact.tsx';
import type { ShownBotProps } from './bot-page.tsx';

/** What decides whether a bot is worth a try, in one strip. */
export function BotFacts(props: ShownBotProps): VNode {
  const { bot, count, growth, editedAge } = props;
  const { t, href, integer, ago, categoryName } = useLanguage();
  const source = toSourceAddress(bot.codehost);
  return (
    <dl class="bot-facts">
      {count !== undefined && (
        <Fact name={t('bot.serverCount')}>
          {integer(count)} {growth !== undefined && <CountGrowth growth={growth} />}
        </Fact>
      )}
      <Fact name={t('bot.category')}>
        <a href={href(`/categories/${bot.category}`)}>{categoryName(bot.category)}</a>
      </Fact>
      <Usage {...props} />
      {source !== null && (
        <Fact name={t('bot.source')}>
          <a href={source} rel="nofollow ugc noopener">
            {t('bot.openSource', { host: 'GitHub' })}
          </a>
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

/** How the bot is used: by what its record and its invite link say, nothing where they do not. */
function Usage({ bot, name }: ShownBotProps): VNode | null {
  const { t } = useLanguage();
  const { prefix, customisable, mentionable } = bot.trigger;
  const hasCommands = readInvite(bot.invite)?.commands ?? false;
  const hasPrefix = prefix.length > 0;
  if (!hasPrefix && !mentionable && !hasCommands) return null;
  const mention = <bdi>@{name}</bdi>;
  return (
    <Fact name={t('bot.howToUse')}>
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
    </Fact>
  );
}

/** The language that the page is in, then links to the others. Many are folded away. */
function LanguagesOfBot({ bot, locale }: ShownBotProps): VNode {
  const { t, publicPath } = useLanguage();
  const others = Object.keys(bot.contents).filter((other) => other !== locale);
  const current = <span lang={locale}>{formatLocaleName(locale)}</span>;
  const links = (
    <ul class="links">
      {others.map((other) => (
        <li key={other}>
          <a href={publicPath(`/bots/${bot.id}?locale=${other}`)} lang={other} hreflang={other}>
            {formatLocaleName(other)}
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
