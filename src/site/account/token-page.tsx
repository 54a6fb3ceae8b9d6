import type { ComponentChildren, VNode } from 'preact';
import type { BotId } from '../../bot/id.ts';
import type { Token } from '../../bot/token.ts';
import type { Session } from '../../login/sessions.ts';
import type { TokenInfo } from '../../state/tokens.ts';
import { assets } from '../page/assets.ts';
import { viewerIn } from './viewer.ts';
import { Layout, type Site } from '../page/layout.tsx';
import { postingCode } from './posting-code.ts';
import { Moment } from '../page/moment.tsx';
import { tokenMessages as messages } from './token-messages.ts';

/** What the token page shows, by who is logged in. */
export type TokenPageState =
  /** The service has no login. */
  | { readonly kind: 'no-login'; readonly obstacle: string | null }
  | { readonly kind: 'visitor' }
  /** Logged in, but not an author of the bot. */
  | { readonly kind: 'stranger'; readonly session: Session }
  /** An author whose login is too old to press a button. */
  | {
      readonly kind: 'stale';
      readonly session: Session;
      readonly info: TokenInfo;
      readonly pressed: boolean;
    }
  | {
      readonly kind: 'author';
      readonly session: Session;
      readonly info: TokenInfo;
      /** The result of the button that was pressed; null when the page was only opened. */
      readonly done:
        | (({ readonly issued: Token } | { readonly revoked: boolean }) & {
            /** Whether the change is pushed, so that other servers get it. */
            readonly shared: boolean;
          })
        | null;
    };

export interface TokenPageProps {
  readonly site: Site;
  readonly bot: { readonly id: BotId; readonly name: string };
  /** The public address, without a slash at its end. */
  readonly baseUrl: string;
  /** The provider's display name; empty where the service has no login. */
  readonly provider: string;
  readonly state: TokenPageState;
}

export function TokenPage({ site, bot, baseUrl, provider, state }: TokenPageProps): VNode {
  const viewer = 'session' in state ? viewerIn(state.session) : null;
  return (
    <Layout site={site} viewer={viewer} title={messages.title(bot.name)} script={assets.copyScript.path}>
      <div class="narrow token-page">
        <header class="stack">
          <p>
            <a href={`/bots/${bot.id}`}>
              ← <bdi>{bot.name}</bdi>
            </a>
          </p>
          <h1>{messages.title(bot.name)}</h1>
          <p class="muted">{messages.intro}</p>
        </header>
        <Part bot={bot} provider={provider} state={state} />
        <section class="stack" aria-labelledby="post">
          <h2 id="post">{messages.post}</h2>
          <p>{messages.postText}</p>
          {postingCode(baseUrl, bot.id).map(({ title, code }, number) => (
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

type PartProps = Pick<TokenPageProps, 'bot' | 'provider' | 'state'>;

function Part({ bot, provider, state }: PartProps): VNode {
  switch (state.kind) {
    case 'no-login':
      return (
        <Panel title={messages.noLogin}>
          {state.obstacle !== null && <p>{state.obstacle}</p>}
          <p>{messages.operator}</p>
          <pre tabIndex={0} role="region" aria-label={messages.command}>
            <code>npx botshelf token {bot.id}</code>
          </pre>
        </Panel>
      );
    case 'visitor':
      return (
        <Panel title={messages.visitor}>
          <p>{messages.visitorText}</p>
          <LogIn bot={bot}>{messages.logIn(provider)}</LogIn>
        </Panel>
      );
    case 'stranger':
      return (
        <Panel title={messages.stranger}>
          <p>{messages.strangerText(viewerIn(state.session).name, state.session.id, bot.name)}</p>
          <LogIn bot={bot} asAnother>
            {messages.otherAccount}
          </LogIn>
        </Panel>
      );
    case 'stale':
      return (
        <Panel title={messages.current}>
          {state.pressed && (
            <p class="notice bad" role="status">
              {messages.nothingDone}
            </p>
          )}
          <Info info={state.info} />
          <p>{messages.stale(provider)}</p>
          <LogIn bot={bot}>{messages.logInAgain}</LogIn>
        </Panel>
      );
    case 'author':
      return (
        <>
          {state.done && <Done done={state.done} />}
          {state.done?.shared === false && (
            <p class="notice bad" role="status">
              {messages.notShared}
            </p>
          )}
          <Panel title={messages.current}>
            <Info info={state.info} />
            <Buttons bot={bot} info={state.info} />
          </Panel>
        </>
      );
    default:
      return state satisfies never;
  }
}

function Panel({ title, children }: { readonly title: string; readonly children: ComponentChildren }): VNode {
  return (
    <section class="panel stack">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

interface LogInProps extends Pick<PartProps, 'bot'> {
  readonly asAnother?: boolean;
  readonly children: string;
}

function LogIn({ bot, asAnother = false, children }: LogInProps): VNode {
  return (
    <p class="actions">
      <a class="button" href={`/login?to=/bots/${bot.id}/token${asAnother ? '&account=other' : ''}`}>
        {children}
      </a>
    </p>
  );
}

function Info({ info: { issuedAt, lastUsed } }: { readonly info: TokenInfo }): VNode {
  if (issuedAt === undefined) return <p>{messages.none}</p>;
  return (
    <dl class="pairs">
      <div>
        <dt>{messages.issued}</dt>
        <dd>
          <Moment time={issuedAt} />
        </dd>
      </div>
      <div>
        <dt>{messages.lastUsed}</dt>
        <dd>{lastUsed === undefined ? messages.neverUsed : <Moment time={lastUsed} />}</dd>
      </div>
    </dl>
  );
}

/** Issuing the first token takes one click; ending one that may be in use takes two. */
function Buttons({ bot, info }: Pick<PartProps, 'bot'> & { readonly info: TokenInfo }): VNode {
  const action = `/bots/${bot.id}/token`;
  if (info.issuedAt === undefined) {
    return (
      <form class="actions" method="post" action={action}>
        <button type="submit">{messages.issue}</button>
      </form>
    );
  }
  return (
    <details class="stack">
      <summary>{messages.replace}</summary>
      <p>{messages.replaceText}</p>
      <div class="actions">
        <form method="post" action={action}>
          <button type="submit">{messages.regenerate}</button>
        </form>
        <form method="post" action={`${action}/revoke`}>
          <button class="danger" type="submit">
            {messages.revoke}
          </button>
        </form>
      </div>
    </details>
  );
}

type DoneState = NonNullable<Extract<TokenPageState, { kind: 'author' }>['done']>;

function Done({ done }: { readonly done: DoneState }): VNode {
  if ('revoked' in done) {
    return (
      <p class="notice" role="status">
        {done.revoked ? messages.revoked : messages.nothingToRevoke}
      </p>
    );
  }
  return (
    <section class="notice stack" aria-labelledby="new-token">
      <h2 id="new-token">{messages.newToken}</h2>
      <p>{messages.newTokenText}</p>
      <label for="token">{messages.field}</label>
      <div class="copy">
        <input
          id="token"
          class="token"
          type="text"
          readOnly
          autofocus
          spellcheck={false}
          autocomplete="off"
          value={done.issued}
        />
        <button class="quiet" type="button" hidden data-copy="token" data-copied={messages.copied}>
          {messages.copy}
        </button>
      </div>
      <p class="muted" role="status" id="copied" />
    </section>
  );
}
