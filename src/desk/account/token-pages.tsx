import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { ComponentChildren, RenderableProps, VNode } from 'preact';
import type { BotId } from '../../bot/id.ts';
import type { Token } from '../../bot/token.ts';
import { findBlocked, requireBlocked, type BlockedName } from '../../catalogue/settings/blocked.ts';
import { readCommittedAuthors } from '../../catalogue/lists/authors.ts';
import { type IndexedBot, findKnownBot } from '../../catalogue/store/bot-index.ts';
import { findBlockedIn } from '../../check/check.ts';
import { RateLimit } from '../../http/limits.ts';
import { refuseCrossSite } from '../../http/request.ts';
import { isFresh } from '../../login/session.ts';
import type { TokenInfo } from '../../tokens/tokens.ts';
import { EnglishSentence } from '../../site/language/messages.tsx';
import { useLanguage, useVisit, type Viewer } from '../../site/page/page-context.tsx';
import { createPostingCode } from './posting-code.ts';
import { Fact, ActionLink, BackLink, CopyButton, PostButton } from '../../site/page/elements.tsx';
import { sendOnce } from '../../site/page/html-response.ts';
import { Layout } from '../../site/page/layout.tsx';
import { BlockedNotice } from '../page/message-page.tsx';
import type { DeskParts } from '../page/desk-parts.ts';

/**
 * Adds the page of a bot's token, with buttons for the bot's authors only. Each press checks again the committed
 * authors and the age of the login. A token appears only in the response to the press.
 */
export function addTokenRoutes(
  router: Router,
  { site, bots, viewerOf, blocked, repositoryOpener, login, tokens }: DeskParts,
): void {
  const presses = new RateLimit('token-presses', 10);

  /** Determines the state of the page from the session and the bot's authors. */
  const stateOf = async (ctx: Context, bot: IndexedBot, pressed: boolean): Promise<TokenPageState> => {
    const { id } = bot;
    if (login === null || login.disabledReason !== null)
      return { kind: 'no-login', disabledReason: login?.disabledReason ?? null };
    const viewer = await viewerOf(ctx);
    if (viewer === null) return { kind: 'visitor' };
    const authors = await readCommittedAuthors(repositoryOpener, id);
    if (!authors.includes(viewer.id)) return { kind: 'not-an-author', viewer };
    const all = requireBlocked(blocked.current);
    const ofBot = findBlockedIn(bot, all).filter(({ kind }) => kind === 'bot');
    const [found] = [...ofBot, ...findBlocked(all, { authors: [viewer.id] })];
    if (found) return { kind: 'blocked', viewer, blocked: found };
    const info = await tokens.tokenInfo(id);
    if (!isFresh(viewer, 'token')) return { kind: 'stale', viewer, info, pressed };
    return { kind: 'author', viewer, info, done: null };
  };
  /** @param act the action of the button for an author; left out for opening the page */
  const createHandler =
    (act?: (id: BotId, by: string, before: TokenInfo) => Promise<DoneChange>) =>
    async (ctx: Context): Promise<void> => {
      const bot = findKnownBot(bots, ctx['params'].id ?? '');
      const { id, facts } = bot;
      let state = await stateOf(ctx, bot, act !== undefined);
      if (act && state.kind === 'author') {
        presses.count(ctx, id, 'wait a minute before you press again');
        const done = await act(id, `account ${state.viewer.id}`, state.info);
        state = { ...state, done, info: await tokens.tokenInfo(id) };
      }
      const props = { bot: { id, name: facts.name }, provider: login?.provider ?? '', state };
      const visit = { site, viewer: 'viewer' in state ? state.viewer : null };
      sendOnce(ctx, visit, <TokenPage {...props} />, toStatus(state, ctx.method));
    };
  const issue = createHandler(async (id, by, { issuedAt }) => {
    const { result, shared } = await tokens.issueToken(id, by);
    return { issued: result, replaced: issuedAt !== undefined, shared };
  });
  const revoke = createHandler(async (id, by) => {
    const { result, shared } = await tokens.revokeToken(id, by);
    return { revoked: result, shared };
  });
  const ownPagesOnly = refuseCrossSite(site.baseUrl);
  router.get('/bots/:id/token', createHandler());
  router.post('/bots/:id/token', ownPagesOnly, issue);
  router.post('/bots/:id/token/revoke', ownPagesOnly, revoke);
}

/** Returns 403 for any press that is not allowed. Opening the page is 403 only for another account, and for blocked ones. */
function toStatus({ kind }: TokenPageState, method: string): number {
  if (kind === 'author') return 200;
  return kind === 'not-an-author' || kind === 'blocked' || method === 'POST' ? 403 : 200;
}

/** The state of the token page, by viewer. */
type TokenPageState =
  /** The service has no login. */
  | { readonly kind: 'no-login'; readonly disabledReason: string | null }
  | { readonly kind: 'visitor' }
  /** A logged-in account that is not an author of the bot. */
  | { readonly kind: 'not-an-author'; readonly viewer: Viewer }
  /** An author who is blocked, or whose bot is blocked. */
  | { readonly kind: 'blocked'; readonly viewer: Viewer; readonly blocked: BlockedName }
  /** An author whose login is too old for the buttons, and whether one was pressed. */
  | { readonly kind: 'stale'; readonly viewer: Viewer; readonly info: TokenInfo; readonly pressed: boolean }
  /** An author, and the result of the pressed button; null if the page was only opened. */
  | Readonly<{ kind: 'author'; viewer: Viewer; info: TokenInfo; done: DoneChange | null }>;

/** An issued token and whether it replaced another, or whether a token was revoked. */
type DoneChange = ({ readonly issued: Token; readonly replaced: boolean } | { readonly revoked: boolean }) & {
  /** Whether the change was pushed, so that other servers receive it. */
  readonly shared: boolean;
};

interface TokenPageProps {
  readonly bot: { readonly id: BotId; readonly name: string };
  /** The provider's display name; empty if the service has no login. */
  readonly provider: string;
  readonly state: TokenPageState;
}

function TokenPage(props: TokenPageProps): VNode {
  const { bot } = props;
  const { site } = useVisit();
  const { t, text } = useLanguage();
  return (
    <Layout
      title={text('token.title', { bot: bot.name })}
      script="copyScript"
      head={
        <>
          <BackLink path={`/bots/${bot.id}`} name={bot.name} />
          <h1>{t('token.title', { bot: bot.name })}</h1>
          <p class="whole">{t('token.introduction')}</p>
        </>
      }
    >
      <div class="narrow token-page">
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

function Part({ bot, provider, state }: TokenPageProps): VNode {
  const { t, text, href } = useLanguage();
  const path = `/bots/${bot.id}/token`;
  const logIn = href(`/login?to=${href(path)}`);
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
      return <BlockedNotice blocked={state.blocked} />;
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

/** Shows when the token was issued and last used, to the minute, in UTC. */
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

/** Issuing the first token takes one click; revoking one that may be in use takes two. */
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
