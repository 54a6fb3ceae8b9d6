import type { ComponentChildren, VNode } from 'preact';
import type { Locale } from '../../bot/locale.ts';
import { defaultLocale } from '../../bot/record.ts';
import type { BotRecord, FullTrigger } from '../../bot/schema-types.ts';
import { parseBotId } from '../../bot/id.ts';
import { pathOf } from '../../catalogue/page/layout.ts';
import { withoutBidiControls } from '../page/bidi.ts';
import type { BotPageProps } from './bot-page.tsx';
import { nameOfLocale } from '../language/locales.ts';
import { useLanguage } from '../language/page-language.tsx';
import { TokenLink } from '../page/token-link.tsx';

/** The column beside a bot's page: languages, details, links to its file and its token. */
export function BotFacts(props: BotPageProps): VNode {
  const { text } = useLanguage();
  return (
    <aside class="side" aria-label={text('bot.about')}>
      <Languages {...props} />
      <Facts {...props} />
      <Owner {...props} />
    </aside>
  );
}

function Languages({ bot, locale }: BotPageProps): VNode | null {
  const { t } = useLanguage();
  const locales = Object.keys(bot.contents) as Locale[];
  if (locales.length < 2) return null;
  return (
    <nav class="panel" aria-labelledby="languages">
      <h2 id="languages">{t('bot.languages')}</h2>
      <ul class="links">
        {locales.map((other) => (
          <li key={other}>
            <a
              href={`/bots/${bot.id}?locale=${other}`}
              lang={other}
              hreflang={other}
              aria-current={other === locale ? 'true' : undefined}
            >
              {nameOfLocale(other)}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Facts({ bot, count }: BotPageProps): VNode {
  const { t, href, integer } = useLanguage();
  const { owner, repo } = bot.codehost;
  return (
    <section class="panel" aria-labelledby="facts">
      <h2 id="facts">{t('bot.details')}</h2>
      <dl>
        {count !== undefined && <Fact name={t('bot.serverCount')}>{integer(count)}</Fact>}
        <Fact name={t('bot.category')}>
          <a href={href(`/categories/${bot.category}`)}>{t(`category.${bot.category}`)}</a>
        </Fact>
        <Prefixes trigger={bot.trigger} />
        {owner !== null && repo !== null && (
          <Fact name={t('bot.source')}>
            <a
              href={`https://github.com/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}`}
              rel="nofollow ugc noopener"
            >
              {owner}/{repo}
            </a>
          </Fact>
        )}
        <Fact name={t('bot.authors')}>
          {bot.authors.map((author) => (
            <div key={author}>{author}</div>
          ))}
        </Fact>
        <Fact name={t('bot.created')}>
          <Day time={bot.created} />
        </Fact>
        <Fact name={t('bot.edited')}>
          <Day time={bot.edited} />
        </Fact>
        <Fact name={t('bot.id')}>{bot.id}</Fact>
      </dl>
    </section>
  );
}

function Prefixes({ trigger }: { readonly trigger: FullTrigger }): VNode | null {
  const { t } = useLanguage();
  const { prefix, customisable, mentionable } = trigger;
  if (prefix.length === 0 && !mentionable) return null;
  return (
    <Fact name={t('bot.prefixes')}>
      {prefix.map((text) => (
        <>
          <kbd key={text} class="key" dir="auto">
            {withoutBidiControls(text)}
          </kbd>{' '}
        </>
      ))}
      {mentionable && t(prefix.length === 0 ? 'bot.mentionOnly' : 'bot.mentionable')}{' '}
      {customisable && prefix.length > 0 && t('bot.customisable')}
    </Fact>
  );
}

/** Links to edit the bot's file, to its history, its JSON and its token. */
function Owner({ site, viewer, bot, locale }: BotPageProps): VNode {
  const { t } = useLanguage();
  const path = pathOfPage(bot, locale);
  return (
    <>
      <nav class="panel" aria-labelledby="this-page">
        <h2 id="this-page">{t('bot.listing')}</h2>
        <ul class="links">
          {site.repository && (
            <>
              <li>
                <a href={site.repository.edit(path)}>{t('bot.edit')}</a>
              </li>
              <li>
                <a href={site.repository.history(path)}>{t('bot.history')}</a>
              </li>
            </>
          )}
          <li>
            <a href={`/api/v2/bots/${bot.id}`}>{t('bot.json')}</a>
          </li>
        </ul>
      </nav>
      <section class="panel stack" aria-labelledby="owner">
        <h2 id="owner">{t('bot.manage')}</h2>
        {site.login ? <TokenLink bot={bot} viewer={viewer} /> : <TokenAdvice bot={bot} />}
      </section>
    </>
  );
}

function TokenAdvice({ bot }: { readonly bot: BotRecord }): VNode {
  const { t } = useLanguage();
  return (
    <>
      <p class="muted">{t('bot.noLogin')}</p>
      <p>
        <code>npx botshelf token {bot.id}</code>
      </p>
    </>
  );
}

function pathOfPage(bot: BotRecord, locale: Locale): string {
  const id = parseBotId(bot.id);
  return id === undefined ? '' : pathOf(id, locale in bot.contents ? locale : defaultLocale(bot));
}

function Fact({
  name,
  children,
}: {
  readonly name: ComponentChildren;
  readonly children: ComponentChildren;
}): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Day({ time }: { readonly time: number }): VNode {
  const { day } = useLanguage();
  const date = new Date(time);
  return <time dateTime={date.toISOString()}>{day(time)}</time>;
}
