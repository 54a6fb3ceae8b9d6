import type { Router } from '@koa/router';
import type { VNode } from 'preact';
import { msPerDay } from '../../bot/clock.ts';
import type { Fault } from '../../catalogue/page/fault.ts';
import { type IndexedBot, parseListElement } from '../../catalogue/store/bot-index.ts';
import type { Login } from '../../login/login.ts';
import type { TokenInfo } from '../../tokens/tokens.ts';
import {
  PageLinks,
  type PageLinksProps,
  Fact,
  ActionLink,
  NameLink,
  Avatar,
  FaultItems,
} from '../../site/page/elements.tsx';
import { useLanguage, useVisit } from '../../site/page/page-context.tsx';
import { Checklist } from '../page/checklist.tsx';
import { editPath, profileFormPath, toAttentionPath, translatePath } from '../../site/page/addresses.ts';
import { BlockedNotice } from '../page/message-page.tsx';
import { sendOnce, pickPage } from '../../site/page/html-response.ts';
import { myBotsPath, Layout } from '../../site/page/layout.tsx';
import { AttentionText } from '../review/attention-list.tsx';
import type { OwnItem } from '../../site/discover/attention.ts';
import { noteAnswersRead } from './login-pages.tsx';
import { OwnProposals, type OwnProposalsProps, listProposals } from './proposal-pages.tsx';
import type { DeskParts } from '../page/desk-parts.ts';

/** `/my-bots`: the bots that name the logged-in account as an author. */
export function addMyBotsRoute(
  router: Router,
  { site, viewerOf, bots: index, lists, store, counts, proposals, tokens, ownAttention }: DeskParts,
  login: Login,
): void {
  const showOwn = async (bots: readonly IndexedBot[]): Promise<OwnBot[]> => {
    const own = await Promise.all(bots.map(async (bot) => ({ bot, token: await tokens.tokenInfo(bot.id) })));
    const issuedAt = new Map(own.map(({ bot, token }) => [bot.id, token.issuedAt]));
    const items = await ownAttention(bots, (id) => counts.reportedAt(id) ?? issuedAt.get(id));
    return own.map(({ bot, token }) => ({
      bot,
      token,
      count: counts.count(bot.id),
      reportedAt: counts.reportedAt(bot.id),
      faults: store.faultsOf(bot.id),
      attention: items.filter((item) => item.bot === bot.id && item.kind !== 'faulty-file'),
    }));
  };
  router.get(myBotsPath, async (ctx) => {
    const viewer = await viewerOf(ctx);
    const { page, pages, shown } = viewer
      ? pickPage(ctx, (await lists.page({ author: viewer.id }, ctx.ip)).bots)
      : { page: 1, pages: 1, shown: [] };
    const own = proposals && (viewer ? await listProposals(index, proposals, viewer.id) : []);
    const unread = viewer?.answered ?? [];
    if (unread.length > 0) await noteAnswersRead(ctx, login);
    const visit = { site, viewer: viewer && { ...viewer, answered: [] } };
    const props = { proposals: own, unread, bots: await showOwn(shown), page, pages };
    sendOnce(ctx, visit, <MyBotsPage {...props} provider={login.provider} />);
  });
}

/** A bot as its author sees it. */
interface OwnBot {
  readonly bot: IndexedBot;
  readonly count: number | undefined;
  /** When a count was last posted, in milliseconds since the epoch. */
  readonly reportedAt: number | undefined;
  readonly token: TokenInfo;
  readonly faults: readonly Fault[];
  /** Other problems that the author can fix. */
  readonly attention: readonly OwnItem[];
}

interface MyBotsPageProps extends Pick<PageLinksProps, 'page' | 'pages'> {
  /** The provider's display name. */
  readonly provider: string;
  /** The proposals of the account; null if the service does not take proposals. */
  readonly proposals: OwnProposalsProps['proposals'] | null;
  readonly unread: OwnProposalsProps['unread'];
  /** The bots of this page of the list. */
  readonly bots: readonly OwnBot[];
}

/** The bots of the logged-in account: their counts, tokens and faults in one place. */
function MyBotsPage(props: MyBotsPageProps): VNode {
  const { provider, proposals, unread, bots, page, pages } = props;
  const { viewer } = useVisit();
  const title = proposals === null ? 'myBots.title' : 'proposal.myBots';
  const { t, text, href } = useLanguage();
  return (
    <Layout title={text(title)} current={myBotsPath}>
      <div class="stack">
        <h1>{t(title)}</h1>
        <BlockedNotice />
        {viewer === null && (
          <>
            <p>{t('myBots.visitor')}</p>
            <ActionLink href={href(`/login?to=${href(myBotsPath)}`)}>
              {t('token.logIn', { provider })}
            </ActionLink>
          </>
        )}
        {viewer !== null && (
          <p class="actions">
            <a href={href(profileFormPath)}>{t('profile.title')}</a>
            {bots.length > 0 && <a href={href(toAttentionPath(viewer.id))}>{t('attention.follow')}</a>}
          </p>
        )}
        {proposals !== null && proposals.length > 0 && <OwnProposals {...{ proposals, unread }} />}
        {viewer !== null && bots.length === 0 && (
          <>
            <p>{t('myBots.none', { id: viewer.id })}</p>
            <ActionLink href={href('/add')}>{t('layout.add')}</ActionLink>
          </>
        )}
        {bots.length > 0 && (
          <ul class="own-bots">
            {bots.map((own) => (
              <Own key={own.bot.id} {...own} />
            ))}
          </ul>
        )}
        <PageLinks {...{ page, pages }} pathOf={(number) => href(`${myBotsPath}?page=${number}`)} />
      </div>
    </Layout>
  );
}

function Own({ bot, count, reportedAt, token, faults, attention }: OwnBot): VNode {
  const { id, facts } = bot;
  const { t, href, integer, ago, day } = useLanguage();
  const { images, cachedImages } = parseListElement(bot);
  const isCounted = reportedAt !== undefined && reportedAt > Date.now() - msPerWeek;
  const edit = href(editPath(id));
  return (
    <li class="panel stack">
      <div class="own-head">
        <Avatar
          id={id}
          name={facts.name}
          category={facts.category}
          image={cachedImages.avatar}
          size={48}
          blurred={false}
        />
        <h2>
          <NameLink path={`/bots/${id}`} name={facts.name} />
        </h2>
      </div>
      <dl class="pairs">
        <Fact name={t('bot.serverCount')}>
          {count === undefined ? t('myBots.noCount') : integer(count)}{' '}
          {reportedAt !== undefined && (
            <span class="muted">{t('bot.reported', { ago: ago(reportedAt, Date.now()) })}</span>
          )}
        </Fact>
        <Fact name={t('token.field')}>
          {token.issuedAt === undefined ? t('token.none') : t('myBots.token', { day: day(token.issuedAt) })}
        </Fact>
      </dl>
      {faults.length > 0 && (
        <div class="notice bad">
          <p>{t('bot.faults')}</p>
          <FaultItems faults={faults} />
          <p>{t('attention.faulty-file.advice')}</p>
        </div>
      )}
      {attention.length > 0 && (
        <div class="notice warn">
          {attention.map((item, i) => (
            <p key={i}>
              <AttentionText item={item} />
              <br />
              {t(`attention.${item.kind}.advice`)}
            </p>
          ))}
        </div>
      )}
      <Checklist
        items={[
          { name: 'avatar', isDone: images.avatar !== null, href: `${edit}#avatar` },
          { name: 'cover', isDone: images.cover !== null, href: `${edit}#cover` },
          { name: 'language', isDone: facts.locales.length > 1, href: href(translatePath(id)) },
          { name: 'count', isDone: isCounted, href: href(`/bots/${id}/token`) },
        ]}
      />
      <p class="actions">
        <a class="button quiet" href={href(`/bots/${id}/token`)}>
          {t('bot.manage')}
        </a>
        <a class="button quiet" href={edit}>
          {t('bot.edit')}
        </a>
      </p>
    </li>
  );
}

const msPerWeek = 7 * msPerDay;
