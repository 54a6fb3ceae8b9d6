import type { ComponentChildren, VNode } from 'preact';
import type { Locale } from '../../bot/locale.ts';
import { defaultLocale } from '../../bot/record.ts';
import type { BotRecord, FullTrigger } from '../../bot/schema-types.ts';
import { parseBotId } from '../../bot/id.ts';
import { pathOf } from '../../catalogue/page/layout.ts';
import { withoutBidiControls } from '../page/bidi.ts';
import type { BotPageProps } from './bot-page.tsx';
import { nameOfLocale } from '../page/locales.ts';
import { categoryNames, day, integer, messages } from '../page/messages.ts';
import { TokenLink } from '../page/token-link.tsx';

/** The column beside a bot's page: languages, details, links to its file and its token. */
export function BotFacts(props: BotPageProps): VNode {
  return (
    <aside class="side" dir="ltr" aria-label={messages.about}>
      <Languages {...props} />
      <Facts {...props} />
      <Owner {...props} />
    </aside>
  );
}

function Languages({ bot, locale }: BotPageProps): VNode | null {
  const locales = Object.keys(bot.contents) as Locale[];
  if (locales.length < 2) return null;
  return (
    <nav class="panel" aria-labelledby="languages">
      <h2 id="languages">{messages.languages}</h2>
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
  const { owner, repo } = bot.codehost;
  return (
    <section class="panel" aria-labelledby="facts">
      <h2 id="facts">{messages.facts}</h2>
      <dl>
        {count !== undefined && <Fact name={messages.serverCount}>{integer(count)}</Fact>}
        <Fact name={messages.category}>
          <a href={`/categories/${bot.category}`}>{categoryNames[bot.category]}</a>
        </Fact>
        <Prefixes trigger={bot.trigger} />
        {owner !== null && repo !== null && (
          <Fact name={messages.repository}>
            <a
              href={`https://github.com/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}`}
              rel="nofollow ugc noopener"
            >
              {owner}/{repo}
            </a>
          </Fact>
        )}
        <Fact name={messages.authors}>
          {bot.authors.map((author) => (
            <div key={author}>{author}</div>
          ))}
        </Fact>
        <Fact name={messages.listed}>
          <Day time={bot.created} />
        </Fact>
        <Fact name={messages.edited}>
          <Day time={bot.edited} />
        </Fact>
        <Fact name={messages.id}>{bot.id}</Fact>
      </dl>
    </section>
  );
}

function Prefixes({ trigger }: { readonly trigger: FullTrigger }): VNode | null {
  const { prefix, customisable, mentionable } = trigger;
  if (prefix.length === 0 && !mentionable) return null;
  return (
    <Fact name={messages.prefixes}>
      {prefix.map((text) => (
        <>
          <kbd key={text} class="key" dir="auto">
            {withoutBidiControls(text)}
          </kbd>{' '}
        </>
      ))}
      {prefix.length === 0 ? messages.mentionOnly : mentionable && messages.mentionable}
      {customisable && prefix.length > 0 && (
        <>
          {mentionable && '; '}
          {messages.customisable}
        </>
      )}
    </Fact>
  );
}

/** Links to edit the bot's file, to its history, its JSON and its token. */
function Owner({ site, viewer, bot, locale }: BotPageProps): VNode {
  const path = pathOfPage(bot, locale);
  return (
    <>
      <nav class="panel" aria-labelledby="this-page">
        <h2 id="this-page">{messages.thisPage}</h2>
        <ul class="links">
          {site.repository && (
            <>
              <li>
                <a href={site.repository.edit(path)}>{messages.editPage}</a>
              </li>
              <li>
                <a href={site.repository.history(path)}>{messages.history}</a>
              </li>
            </>
          )}
          <li>
            <a href={`/api/v2/bots/${bot.id}`}>{messages.json}</a>
          </li>
        </ul>
      </nav>
      <section class="panel stack" aria-labelledby="owner">
        <h2 id="owner">{messages.forOwners}</h2>
        {site.login ? <TokenLink bot={bot} viewer={viewer} /> : <TokenAdvice bot={bot} />}
      </section>
    </>
  );
}

function TokenAdvice({ bot }: { readonly bot: BotRecord }): VNode {
  return (
    <>
      <p class="muted">{messages.noLoginAdvice}</p>
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

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Day({ time }: { readonly time: number }): VNode {
  const date = new Date(time);
  return <time dateTime={date.toISOString()}>{day(time)}</time>;
}
