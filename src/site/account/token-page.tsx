import type { ComponentChildren, RenderableProps, VNode } from 'preact';
import type { BotId } from '../../bot/id.ts';
import type { Token } from '../../bot/token.ts';
import type { TokenInfo } from '../../tokens/tokens.ts';
import type { BlockedName } from '../../catalogue/settings/blocked.ts';
import { assets } from '../page/assets.ts';
import { BlockedNotice } from '../page/blocked-notice.tsx';
import { Layout, type Site, type Viewer } from '../page/layout.tsx';
import { createPostingCode } from './posting-code.ts';
import { Fact } from '../page/fact.tsx';
import { ActionLink, BackLink, CopyButton, PostButton } from '../page/links.tsx';
import { EnglishSentence } from '../language/in-english.tsx';
import { useLanguage } from '../language/page-language.tsx';

/** What the token page shows, by who is logged in. */
export type TokenPageState =
  /** The service has no login. */
  | { readonly kind: 'no-login'; readonly disabledReason: string | null }
  | { readonly kind: 'visitor' }
  /** Logged in, but not an author of the bot. */
  | { readonly kind: 'not-an-author'; readonly viewer: Viewer }
  /** An author who is blocked, or whose bot is. */
  | { readonly kind: 'blocked'; readonly viewer: Viewer; readonly blocked: BlockedName }
  /** An author whose login is too old to press a button, and whether one was pressed. */
  | { readonly kind: 'stale'; readonly viewer: Viewer; readonly info: TokenInfo; readonly pressed: boolean }
  /** An author, and what the button did that was pressed; null when the page was only opened. */
  | Readonly<{ kind: 'author'; viewer: Viewer; info: TokenInfo; done: DoneChange | null }>;

/** A token that was issued and whether it replaced one, or whether there was one to revoke. */
export type DoneChange = (
  | { readonly issued: Token; readonly replaced: boolean }
  | { readonly revoked: boolean }
) & {
  /** Whether the change is pushed, so that other servers get it. */
  readonly shared: boolean;
};

export interface TokenPageProps {
  readonly site: Site;
  readonly bot: { readonly id: BotId; readonly name: string };
  /** The provider's display name; empty where the service has no login. */
  readonly provider: string;
  readonly state: TokenPageState;
}

export function TokenPage(props: TokenPageProps): VNode {
  const { site, bot, state } = props;
  const { t, text } = useLanguage();
  const viewer = 'viewer' in state ? state.viewer : null;
  return (
    <Layout
      site={site}
      viewer={viewer}
      title={text('token.title', { bot: bot.name })}
      script={assets.copyScript.path}
    >
      <div class="narrow token-page">
        <header class="stack">
          <BackLink path={`/bots/${bot.id}`} name={bot.name} />
          <h1>{t('token.title', { bot: bot.name })}</h1>
          <p class="muted">{t('token.introduction')}</p>
        </header>
        <Part {...props} />
        <section class="stack" aria-labelledby="post">
          <h2 id="post">{t('token.use')}</h2>
          <p>{t('token.useText')}</p>
          {createPostingCode(site.baseUrl, bot.id).map(({ title, code }, number) => (
            <details key={title} class="sample" open={number === 0}>
              <summary>{title}</summary>
              <pre tabIndex={0} role="region" aria-label={title}>
                <code>{code}</code>
              </pre>
            </details>
          ))}
        </section>
      </div>
    </Layout>
  );
}

function Part({ site, bot, provider, state }: TokenPageProps): VNode {
  const { t, text, href, publicPath } = useLanguage();
  const path = `/bots/${bot.id}/token`;
  const logIn = publicPath(`/login?to=${href(path)}`);
  switch (state.kind) {
    case 'no-login':
      return (
        <Panel title={t('token.noLogin')}>
          {state.disabledReason !== null && <EnglishSentence clause={state.disabledReason} />}
          <p>{t('token.noLoginText')}</p>
          <pre tabIndex={0} role="region" aria-label={text('token.command')}>
            <code>botshelf token {bot.id}</code>
          </pre>
        </Panel>
      );
    case 'visitor':
      return (
        <Panel title={t('token.visitor')}>
          <p>{t('token.visitorText')}</p>
          <ActionLink href={logIn}>{t('token.logIn', { provider })}</ActionLink>
        </Panel>
      );
    case 'not-an-author':
      return (
        <Panel title={t('token.notAnAuthor')}>
          <p>{t('token.notAnAuthorText', { name: state.viewer.name, id: state.viewer.id, bot: bot.name })}</p>
          <ActionLink href={`${logIn}&account=other`}>{t('token.otherAccount')}</ActionLink>
        </Panel>
      );
    case 'blocked':
      return <BlockedNotice site={site} {...state} />;
    case 'stale':
      return (
        <Panel title={t('token.current')}>
          {state.pressed && <Notice bad text={t('token.nothingDone')} />}
          <Info info={state.info} />
          <p>{t('token.stale', { provider })}</p>
          <ActionLink href={logIn}>{t('login.again')}</ActionLink>
        </Panel>
      );
    case 'author':
      return (
        <>
          {state.done && <DoneNotice done={state.done} />}
          {state.done?.shared === false && <Notice bad text={t('token.notShared')} />}
          <Panel title={t('token.current')}>
            <Info info={state.info} />
            <Buttons path={path} info={state.info} />
          </Panel>
        </>
      );
    default:
      return state satisfies never;
  }
}

function Panel({ title, children }: RenderableProps<{ readonly title: ComponentChildren }>): VNode {
  return (
    <section class="panel stack">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** When the token was issued and last used, to the minute, in UTC. */
function Info({ info: { issuedAt, lastUsed } }: { readonly info: TokenInfo }): VNode {
  const { t, minute } = useLanguage();
  const createTime = (time: number): VNode => (
    <time dateTime={new Date(time).toISOString()}>{minute(time)}</time>
  );
  if (issuedAt === undefined) return <p>{t('token.none')}</p>;
  return (
    <dl class="pairs">
      <Fact name={t('token.issued')}>{createTime(issuedAt)}</Fact>
      <Fact name={t('token.lastUsed')}>
        {lastUsed === undefined ? t('token.neverUsed') : createTime(lastUsed)}
      </Fact>
    </dl>
  );
}

function Notice({ bad = false, text }: { readonly bad?: boolean; readonly text: ComponentChildren }): VNode {
  return (
    <p class={bad ? 'notice bad' : 'notice'} role="status">
      {text}
    </p>
  );
}

/** Issuing the first token takes one click; ending one that may be in use takes two. */
function Buttons({ path, info }: { readonly path: string; readonly info: TokenInfo }): VNode {
  const { t } = useLanguage();
  if (info.issuedAt === undefined) return <PostButton path={path}>{t('token.issue')}</PostButton>;
  return (
    <details class="stack">
      <summary>{t('token.replace')}</summary>
      <p>{t('token.replaceText')}</p>
      <div class="actions">
        <PostButton path={path}>{t('token.regenerate')}</PostButton>
        <PostButton path={`${path}/revoke`} look="danger">
          {t('token.revoke')}
        </PostButton>
      </div>
    </details>
  );
}

function DoneNotice({ done }: { readonly done: DoneChange }): VNode {
  const { t } = useLanguage();
  if ('revoked' in done) return <Notice text={t(done.revoked ? 'token.revoked' : 'token.nothingToRevoke')} />;
  return (
    <section class="notice stack" aria-labelledby="new-token">
      <h2 id="new-token">{t('token.new')}</h2>
      <p>
        {t('token.newText')} {done.replaced && t('token.replaced')}
      </p>
      <label for="token">{t('token.field')}</label>
      <div class="copy">
        <input
          id="token"
          class="token"
          readOnly
          autofocus
          spellcheck={false}
          autocomplete="off"
          value={done.issued}
        />
        <CopyButton of="token" />
      </div>
      <p class="muted" role="status" id="copied" />
    </section>
  );
}
