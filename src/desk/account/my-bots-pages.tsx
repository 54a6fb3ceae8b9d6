import type { Router } from '@koa/router';
import type { VNode } from 'preact';
import { msPerDay } from '../../bot/clock.ts';
import { type IndexedBot, parseListElement } from '../../catalogue/store/bot-index.ts';
import type { Login } from '../../login/login.ts';
import { Fact, LinkItem, NameLink, FaultItems, toCategoryClass } from '../../site/page/elements.tsx';
import { withoutBidiControls } from '../../lib/text.ts';
import { BotLine, Ledge } from '../../site/front/card.tsx';
import { usePage, type Viewer } from '../../site/page/page-context.tsx';
import {
  editPath,
  profileFormPath,
  toAttentionPath,
  translatePath,
  myBotsPath,
} from '../../site/page/addresses.ts';
import { BlockedNotice, Checklist, sendLogInPage, SubjectAvatar } from '../page/elements.tsx';
import { sendOnce } from '../../site/page/html-response.ts';
import { Layout, PageLinks, type PageLinksProps, pickPage } from '../../site/page/layout.tsx';
import { AttentionText } from '../review/attention-list.tsx';
import { noteAnswersRead } from './login-pages.tsx';
import { createReviewReader } from '../review/reviews.ts';
import { listProposals, OwnProposals, type OwnProposalsProps } from './proposal-pages.tsx';
import type { DeskParts } from '../page/desk-parts.ts';

/** `/my-bots`: the bots that name the logged-in account as an author. */
export function addMyBotsRoute(router: Router, parts: DeskParts, login: Login): void {
  const { site, viewerOf, bots, lists, authors, proposals } = parts;
  const readReview = proposals && createReviewReader({ ...parts, proposals }, 'sent');
  /** Returns the number of bots without a named author; 0 if the account has a name or may not propose one. */
  const countNameless = ({ id, blocked }: Viewer, bots: readonly IndexedBot[]): number => {
    const isAsked = proposals?.list.findLast(`profile-${id}`, id) !== undefined;
    const policy = proposals?.findPolicy(site.settings, [id], id) ?? 'off';
    if (authors.findProfile(id) || isAsked || policy === 'off' || blocked) return 0;
    return bots.filter((bot) => !bot.facts.authors.some((author) => authors.findProfile(author))).length;
  };
  router.get(myBotsPath, async (ctx) => {
    const viewer = await viewerOf(ctx);
    if (viewer === null)
      return sendLogInPage(ctx, site, myBotsPath, 'myBots.visitor', login.disabledReason === null);
    const all = (await lists.page({ author: viewer.id }, ctx.ip)).bots;
    const { shown, ...place } = pickPage(ctx, all);
    const { answered: unread = [] } = viewer;
    const own = readReview && (await listProposals(proposals.list, bots, readReview, viewer.id));
    if (unread.length > 0) await noteAnswersRead(ctx, login);
    const props = {
      ...place,
      viewer,
      total: all.length,
      nameless: countNameless(viewer, all),
      proposals: own ?? [],
      unread,
      medianWaitMs: proposals?.list.medianWaitMs(),
      bots: await readOwn(parts, shown),
    };
    sendOnce(ctx, { site, viewer: { ...viewer, answered: [] } }, <MyBotsPage {...props} />);
  });
}

/** Returns bots as their author sees them: with counts, tokens, faults of files, and other problems to fix. */
async function readOwn({ counts, store, tokens, ownAttention }: DeskParts, bots: readonly IndexedBot[]) {
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
}

type OwnBot = Awaited<ReturnType<typeof readOwn>>[number];

interface MyBotsPageProps extends OwnProposalsProps, Pick<PageLinksProps, 'page' | 'pages'> {
  readonly viewer: Viewer;
  /** The number of the account's bots, and of those none of whose authors has a name. */
  readonly total: number;
  readonly nameless: number;
  /** The bots of this page of the list. */
  readonly bots: readonly OwnBot[];
}

/** The desk of the logged-in account: its proposals, and its bots with their counts, tokens and faults. */
function MyBotsPage(props: MyBotsPageProps): VNode {
  const { viewer, proposals, total, bots, page, pages } = props;
  const { t, text, href } = usePage();
  const asked = proposals.filter(({ proposal }) => proposal.state === 'changes-asked').length;
  const first = bots.slice(0, maxOnLedge).map(({ bot }) => parseListElement(bot));
  return (
    <Layout
      title={text('myBots.title')}
      current={myBotsPath}
      head={
        <>
          <h1>{t('myBots.title')}</h1>
          <p>
            {t('myBots.listed', { count: total })}
            {asked > 0 && <> · {t('myBots.asked', { count: asked })}</>}
          </p>
          <div class="actions whole">
            <a class="button" href={href('/add')}>
              {t('layout.add')}
            </a>
            <a class="button quiet" href={href('/add/collection')}>
              {t('collection.add')}
            </a>
          </div>
        </>
      }
      beside={first.length > 0 && <Ledge bots={first} size={72} />}
    >
      <BlockedNotice />
      <Nameless {...props} />
      {proposals.length > 0 && <OwnProposals {...props} />}
      <section class="shelf" aria-labelledby="own">
        <div class="shelf-head">
          <h2 id="own">{t('myBots.own')}</h2>
        </div>
        {bots.length === 0 && <p>{t('myBots.none')}</p>}
        <ul class="own-bots">
          {bots.map((own) => (
            <Own key={own.bot.id} {...own} />
          ))}
        </ul>
        <PageLinks {...{ page, pages }} pathOf={(number) => href(`${myBotsPath}?page=${number}`)} />
        <ul class="links quiet-row">
          <LinkItem href={href(profileFormPath)}>{t('profile.title')}</LinkItem>
          {total > 0 && <LinkItem href={href(toAttentionPath(viewer.id))}>{t('attention.follow')}</LinkItem>}
        </ul>
      </section>
    </Layout>
  );
}

const maxOnLedge = 5;

/** Offers to show the account's name with its bots. The button sends the form of the profile, filled in. */
function Nameless({ nameless, viewer }: MyBotsPageProps): VNode | null {
  const { t, text, href } = usePage();
  if (nameless === 0) return null;
  return (
    <form class="notice" method="post" action={href(`${profileFormPath}/send`)}>
      <h2>{t('myBots.nameless', { count: nameless })}</h2>
      <input type="hidden" name="name" value={viewer.name} />
      <button>{text('myBots.showName', { name: withoutBidiControls(viewer.name) })}</button>
    </form>
  );
}

function Own({ bot, count, reportedAt, token, faults, attention }: OwnBot): VNode {
  const { id, facts } = bot;
  const { t, href, integer, ago, day } = usePage();
  const listed = parseListElement(bot);
  const { images } = listed;
  const isCounted = reportedAt !== undefined && reportedAt > Date.now() - msPerWeek;
  const edit = href(editPath(id));
  return (
    <li>
      <article class={`card ${toCategoryClass(facts.category)}`}>
        <SubjectAvatar bot={id} name={facts.name} listed={bot} size={56} />
        <div>
          <h3>
            <NameLink path={`/bots/${id}`} name={facts.name} />
          </h3>
          <BotLine bot={listed} count={undefined} authors={[]} hidesAuthors />
        </div>
        <dl class="bot-facts">
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
      </article>
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
          {t('myBots.edit')}
        </a>
      </p>
    </li>
  );
}

const msPerWeek = 7 * msPerDay;
