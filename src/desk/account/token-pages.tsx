import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { ComponentChildren, RenderableProps, VNode } from 'preact';
import type { BotId } from '../../bot/id.ts';
import type { Token } from '../../bot/token.ts';
import { findBlocked, requireBlocked } from '../../catalogue/settings/blocked.ts';
import { readCommittedAuthors } from '../../catalogue/lists/authors.ts';
import { findKnownBot } from '../../catalogue/store/bot-index.ts';
import { findBlockedIn } from '../../check/check.ts';
import { RateLimit } from '../../http/limits.ts';
import { refuseCrossSite } from '../../http/request.ts';
import { isFresh } from '../../login/session.ts';
import type { TokenInfo } from '../../tokens/tokens.ts';
import { EnglishSentence } from '../../site/language/messages.tsx';
import { usePage, type Viewer } from '../../site/page/page-context.tsx';
import { createPostingCode } from './posting-code.ts';
import { Fact, ActionLink, BackLink, CopyButton, PostButton } from '../../site/page/elements.tsx';
import { sendOnce } from '../../site/page/html-response.ts';
import { Layout } from '../../site/page/layout.tsx';
import { BlockedNotice } from '../page/elements.tsx';
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

  /**
   * Returns a handler that shows the page, for an author after the action of the button. A press that is not allowed is
   * a 403, and so is opening the page as another account or as a blocked one.
   * @param act left out for opening the page
   */
  const createHandler =
    (act?: 'issueToken' | 'revokeToken') =>
    async (ctx: Context): Promise<void> => {
      const bot = findKnownBot(bots, ctx['params'].id ?? '');
      const { id, facts } = bot;
      const { t, text, href } = site.languages.of(ctx);
      const path = `/bots/${id}/token`;
      const logIn = href(`/login?to=${href(path)}`);
      const show = (viewer: Viewer | null, part: VNode, status = act ? 403 : 200): void =>
        sendOnce(ctx, { site, viewer }, <TokenPage {...{ id, part }} name={facts.name} />, status);

      if (login === null || login.disabledReason !== null) {
        const part = (
          <Panel title={t('token.noLogin')}>
            {login?.disabledReason && <EnglishSentence clause={login.disabledReason} />}
            <p>{t('token.noLoginText')}</p>
            <pre tabIndex={0} role="region" aria-label={text('token.command')}>
              <code>botshelf token {id}</code>
            </pre>
          </Panel>
        );
        return show(null, part);
      }
      const { provider } = login;
      const viewer = await viewerOf(ctx);
      if (viewer === null) {
        const part = (
          <Panel title={t('token.visitor')}>
            <p>{t('token.visitorText')}</p>
            <ActionLink href={logIn}>{t('token.logIn', { provider })}</ActionLink>
          </Panel>
        );
        return show(null, part);
      }
      const authors = await readCommittedAuthors(repositoryOpener, id);
      if (!authors.includes(viewer.id)) {
        const part = (
          <Panel title={t('token.notAnAuthor')}>
            <p>{t('token.notAnAuthorText', { name: viewer.name, id: viewer.id, bot: facts.name })}</p>
            <ActionLink href={`${logIn}&account=other`}>{t('token.otherAccount')}</ActionLink>
          </Panel>
        );
        return show(viewer, part, 403);
      }
      const all = requireBlocked(blocked.current);
      const ofBot = findBlockedIn(bot, all).filter(({ kind }) => kind === 'bot');
      const [found] = [...ofBot, ...findBlocked(all, { authors: [viewer.id] })];
      if (found) return show(viewer, <BlockedNotice blocked={found} />, 403);
      const before = await tokens.tokenInfo(id);
      if (!isFresh(viewer, 'token')) {
        const part = (
          <Panel title={t('token.current')}>
            {act && <Notice bad text={t('token.nothingDone')} />}
            <Info info={before} />
            <p>{t('token.stale', { provider })}</p>
            <ActionLink href={logIn}>{t('login.again')}</ActionLink>
          </Panel>
        );
        return show(viewer, part);
      }
      if (act) presses.count(ctx, id, 'wait a minute before you press again');
      const done = act && (await tokens[act](id, `account ${viewer.id}`));
      const info = done ? await tokens.tokenInfo(id) : before;
      const part = (
        <>
          {done && <DoneNotice result={done.result} isReplaced={before.issuedAt !== undefined} />}
          {done?.shared === false && <Notice bad text={t('token.notShared')} />}
          <Panel title={t('token.current')}>
            <Info info={info} />
            <Buttons path={path} info={info} />
          </Panel>
        </>
      );
      show(viewer, part, 200);
    };
  const ownPagesOnly = refuseCrossSite(site.baseUrl);
  router.get('/bots/:id/token', createHandler());
  router.post('/bots/:id/token', ownPagesOnly, createHandler('issueToken'));
  router.post('/bots/:id/token/revoke', ownPagesOnly, createHandler('revokeToken'));
}

/** The page of a bot's token. @param props.part what the viewer may see and do */
function TokenPage(props: { readonly id: BotId; readonly name: string; readonly part: VNode }): VNode {
  const { id, name, part } = props;
  const { site, t, text } = usePage();
  return (
    <Layout
      title={text('token.title', { bot: name })}
      script="copyScript"
      head={
        <>
          <BackLink path={`/bots/${id}`} name={name} />
          <h1>{t('token.title', { bot: name })}</h1>
          <p class="whole">{t('token.introduction')}</p>
        </>
      }
    >
      <div class="narrow token-page">
        {part}
        <section class="stack" aria-labelledby="post">
          <h2 id="post">{t('token.use')}</h2>
          <p>{t('token.useText')}</p>
          {createPostingCode(site.baseUrl, id).map(({ title, code }, number) => (
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
  const { t, minute } = usePage();
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
  const { t } = usePage();
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

/** The issued token, or whether a token was revoked. @param props.isReplaced whether there was a token before */
function DoneNotice(props: { readonly result: Token | boolean; readonly isReplaced: boolean }): VNode {
  const { result, isReplaced } = props;
  const { t } = usePage();
  if (typeof result === 'boolean')
    return <Notice text={t(result ? 'token.revoked' : 'token.nothingToRevoke')} />;
  return (
    <section class="notice stack" aria-labelledby="new-token">
      <h2 id="new-token">{t('token.new')}</h2>
      <p>
        {t('token.newText')} {isReplaced && t('token.replaced')}
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
          value={result}
        />
        <CopyButton of="token" />
      </div>
      <p class="muted" role="status" id="copied" />
    </section>
  );
}
