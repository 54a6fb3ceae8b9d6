import type { Context } from 'koa';
import type { VNode } from 'preact';
import { toOneLine } from '../../bot/commit-message.ts';
import { parseBotId } from '../../bot/id.ts';
import { readInvite } from '../../bot/invite.ts';
import {
  type Blocked,
  type BlockedChange,
  type BlockedName,
  BlockError,
  findHost,
  requireBlocked,
  toBlockedChange,
} from '../../catalogue/settings/blocked.ts';
import { type IndexedBot, parseListElement } from '../../catalogue/store/bot-index.ts';
import { listBotsToBlock } from '../../check/check.ts';
import { ProblemError } from '../../http/problem.ts';
import { parseQuery, readFields } from '../../http/request.ts';
import { isError } from '../../lib/errors.ts';
import { EnglishSentence, type MessageKey } from '../../site/language/messages.tsx';
import { usePage, type Viewer } from '../../site/page/page-context.tsx';
import { blockedPath, reviewPath, toBlockPath, withParameter } from '../../site/page/addresses.ts';
import { BackLink, NameLink } from '../../site/page/elements.tsx';
import { redirectTo, sendOnce } from '../../site/page/html-response.ts';
import { Layout } from '../../site/page/layout.tsx';
import { MessagePage } from '../page/elements.tsx';
import type { ProposalParts } from '../page/desk-parts.ts';

/** Responds to a request of a maintainer. */
export type ReviewHandler = (ctx: Context, viewer: Viewer) => Promise<void>;

/**
 * Returns the handlers of the blocking page. `show` shows the bots that a block would affect, or the whole list if the
 * address names nobody. `act` blocks, unblocks, or revokes the token of a bot. `explain` shows why a handler could not
 * change a file. `keepForm` keeps the typed reason during a login.
 */
export function createBlockHandlers(
  { site, bots, blocked, proposals, drafts, tokens, config }: ProposalParts,
  showList: ReviewHandler,
): {
  show: ReviewHandler;
  act: ReviewHandler;
  explain: (handle: ReviewHandler) => ReviewHandler;
  keepForm: (ctx: Context) => Promise<string>;
} {
  const isPrivate = config.blocked !== null;
  const say = (ctx: Context, viewer: Viewer, title: MessageKey, text: VNode, status = 200): void => {
    const to = site.languages.of(ctx).href(ctx.path === blockedPath ? blockedPath : reviewPath);
    const page = <MessagePage {...{ title, to }} action="review.title" children={text} />;
    sendOnce(ctx, { site, viewer }, page, status);
  };
  const explain =
    (handle: ReviewHandler): ReviewHandler =>
    async (ctx, viewer) =>
      await handle(ctx, viewer).catch((error: unknown) => {
        if (!isError(error, 'usage', 'edit-conflict', 'faulty-page')) throw error;
        const { t } = site.languages.of(ctx);
        const known = error instanceof BlockError && <p>{t(`blocking.refused.${error.kind}`)}</p>;
        const why = known || <EnglishSentence clause={error.message} />;
        say(ctx, viewer, 'blocking.refused', why, known ? 422 : 409);
      });
  const show: ReviewHandler = async (ctx, viewer) => {
    const query = parseQuery(ctx);
    if (!query.has('kind')) return await showList(ctx, viewer);
    const change = readChange(query);
    const { kind, name } = change;
    if (kind === 'account' && site.settings.maintainers.includes(name))
      throw new BlockError('maintainer', `${name} is a maintainer`);
    const all = listBlocked(requireBlocked(blocked.current));
    const entry = all.find((other) => other.kind === kind && other.name === name);
    const target = entry ?? { kind, name, reason: await drafts.read(query.get('draft') ?? '') };
    const props = { target, isBlocked: entry !== undefined, isPrivate };
    const concerned = await listBotsToBlock(bots, change);
    sendOnce(ctx, { site, viewer }, <BlockPage {...props} bots={concerned} />);
  };
  const act: ReviewHandler = async (ctx, viewer) => {
    const fields = await readForm(ctx);
    const change = readChange(fields);
    const { href, t } = site.languages.of(ctx);
    const id = change.kind === 'bot' ? parseBotId(change.name) : undefined;
    if (id && fields.get('act') === 'end-token') {
      const { result, shared } = await tokens.revokeToken(id, `account ${viewer.id}`);
      const key = shared ? (result ? 'blocking.tokenEnded' : 'token.none') : 'token.notShared';
      return say(ctx, viewer, 'token.field', <p>{t(key)}</p>);
    }
    if (isPrivate)
      throw new ProblemError('bad-request', 'the file is not in the repository: use the command');
    if (!change.ends) await listBotsToBlock(bots, change);
    await proposals.changeBlocked(change, viewer.id);
    redirectTo(ctx, href(blockedPath));
  };
  const keepForm = async (ctx: Context): Promise<string> => {
    const fields = await readForm(ctx);
    const page = toBlockPath(String(fields.get('kind')), String(fields.get('name')));
    return withParameter(page, 'draft', await drafts.save(fields.get('reason') ?? '', ctx.ip));
  };
  return { show: explain(show), act: explain(act), explain, keepForm };
}

async function readForm(ctx: Context): Promise<URLSearchParams> {
  return await readFields(ctx, 'shorten the reason');
}

/** @throws as toBlockedChange, and {ProblemError} bad-request */
function readChange(fields: URLSearchParams): BlockedChange {
  const kind = kinds.find((known) => known === fields.get('kind'));
  if (kind === undefined)
    throw new ProblemError('bad-request', 'the kind is not one of account, bot and host');
  const reason = toOneLine(fields.get('reason') ?? '', maxReasonLength) || undefined;
  const name = (fields.get('name') ?? '').trim();
  return toBlockedChange(kind, name, { reason, ends: fields.get('act') === 'unblock' });
}

const kinds = ['account', 'bot', 'host'] as const satisfies readonly BlockedName['kind'][];

/** An entry of the block list, or a candidate for it, with the day of the block. */
interface ListedBlock extends BlockedName {
  readonly since?: string | undefined;
}

/** Returns the entries of the block list, newest first. */
export function listBlocked(blocked: Blocked): ListedBlock[] {
  const all = kinds.flatMap((kind) =>
    Object.entries(blocked[`${kind}s`]).map(([name, entry]) => ({ reason: undefined, ...entry, kind, name })),
  );
  return all.toSorted(({ since: a = '' }, { since: b = '' }) => Number(a < b) - Number(a > b));
}

export interface BlockedListProps {
  readonly entries: readonly ListedBlock[];
  /** Whether the block list is private, so that only the command can change it. */
  readonly isPrivate: boolean;
}

/** A form that opens the blocking page, and the block list, each entry with a button that ends it. */
export function BlockedList({ entries, isPrivate }: BlockedListProps): VNode {
  const { t, text, href } = usePage();
  return (
    <>
      <form class="panel narrow stack" action={href(blockedPath)}>
        <p>{t('blocking.introduction')}</p>
        <div class="field">
          <label for="name">{t('blocking.name')}</label>
          <input id="name" name="name" required maxLength={300} dir="ltr" autocomplete="off" />
        </div>
        <p class="actions">
          {kinds.map((kind) => (
            <button key={kind} class="quiet" name="kind" value={kind}>
              {t(`blocking.${kind}`)}
            </button>
          ))}
        </p>
      </form>
      {entries.length === 0 && <p class="muted">{t('blocking.none')}</p>}
      <ol class="steps">
        {entries.map((target) => (
          <li key={`${target.kind} ${target.name}`}>
            <NameLink
              path={toBlockPath(target.kind, target.name)}
              name={`${text(`blocking.${target.kind}`)} ${target.name}`}
            />
            <BlockForm {...{ target, isPrivate }} isBlocked />
          </li>
        ))}
      </ol>
    </>
  );
}

interface BlockPageProps extends BlockFormProps {
  /** The bots that the block affects. */
  readonly bots: readonly IndexedBot[];
}

/** The bots that a block affects, and the buttons. */
function BlockPage(props: BlockPageProps): VNode {
  const { target, bots } = props;
  const { t, text } = usePage();
  const { kind, name } = target;
  const title = `${text(`blocking.${kind}`)} ${name}`;
  const others = kind === 'bot' ? bots.filter(({ id }) => id === name).flatMap(listOthers) : [];
  return (
    <Layout
      title={title}
      current={reviewPath}
      isUnlisted
      head={
        <>
          <BackLink path={blockedPath} name={text('review.tab.blocked')} />
          <h1>{t(`blocking.${kind}`)}</h1>
          <p>{name}</p>
        </>
      }
    >
      <div class="narrow stack">
        <section class="panel stack">
          <h2>{t('blocking.bots', { count: bots.length })}</h2>
          {bots.length > maxBots && <p>{t('attention.more', { shown: maxBots, total: bots.length })}</p>}
          <ul class="steps">
            {bots.slice(0, maxBots).map(({ id, facts }) => (
              <li key={id}>
                <NameLink path={`/bots/${id}`} name={facts.name} /> <span class="muted">{id}</span>
              </li>
            ))}
          </ul>
          {bots.length > 0 && <p class="muted">{t('blocking.stay')}</p>}
        </section>
        <BlockForm {...props} />
        {others.length > 0 && <h2>{t('blocking.others')}</h2>}
        {others.map(({ kind, name }) => (
          <p key={name}>
            <NameLink path={toBlockPath(kind, name)} name={`${text(`blocking.${kind}`)} ${name}`} />
          </p>
        ))}
      </div>
    </Layout>
  );
}

/** Lists the names of a bot that can be blocked in addition to it: its authors, and the hosts of its links except for the platform's invite links. */
function listOthers(bot: IndexedBot): Pick<BlockedName, 'kind' | 'name'>[] {
  const { invite, website, support } = parseListElement(bot);
  const links = [invite, website, support].filter((link) => link !== null && readInvite(link) === undefined);
  const hosts = new Set(links.flatMap((link) => findHost(link ?? '') ?? []));
  const authors = bot.facts.authors.map((name) => ({ kind: 'account', name }) as const);
  return [...authors, ...Array.from(hosts, (name) => ({ kind: 'host', name }) as const)];
}

interface BlockFormProps extends Pick<BlockedListProps, 'isPrivate'> {
  readonly target: ListedBlock;
  readonly isBlocked: boolean;
}

/** The reason and day of a block with the button that ends it, or the field and the button for a new block. */
function BlockForm({ target, isBlocked, isPrivate }: BlockFormProps): VNode {
  const { t, text, href, day } = usePage();
  const { kind, name, reason, since = '' } = target;
  const act = isBlocked ? 'unblock' : 'block';
  return (
    <form class="stack" method="post" action={href(blockedPath)}>
      <input type="hidden" name="kind" value={kind} />
      <input type="hidden" name="name" value={name} />
      {isBlocked && <p dir="auto">{reason}</p>}
      <p class="muted">{Number.isNaN(Date.parse(since)) ? since : day(Date.parse(since))}</p>
      {isPrivate && (
        <pre tabIndex={0} role="region" aria-label={text('token.command')}>
          <code>{`botshelf ${act} ${kind} ${name}${isBlocked ? '' : " --reason '…'"}`}</code>
        </pre>
      )}
      {!isPrivate && !isBlocked && (
        <div class="field">
          <label for="reason">{t('review.reason')}</label>
          <input id="reason" name="reason" value={reason} maxLength={maxReasonLength} dir="auto" />
          <p class="hint">{t('blocking.reasonHint')}</p>
        </div>
      )}
      <p class="actions">
        {!isPrivate && (
          <button class={isBlocked ? 'quiet' : 'danger'} name="act" value={act}>
            {t(`blocking.${act}`)}
          </button>
        )}
        {kind === 'bot' && (
          <button class="danger" name="act" value="end-token">
            {t('blocking.endToken')}
          </button>
        )}
      </p>
    </form>
  );
}

/** Maximum number of bots that are listed. */
const maxBots = 100;

/** In characters, as in the schema. */
const maxReasonLength = 500;
