import { deepStrictEqual, match, rejects, strictEqual } from 'node:assert/strict';
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isUnavailable } from '../../src/bot/errors.ts';
import type { AccountId } from '../../src/bot/commit-message.ts';
import { nothingBlocked } from '../../src/catalogue/settings/blocked.ts';
import { toSettings } from '../../src/catalogue/settings/settings.ts';
import { RepositoryOpener } from '../../src/git/repository.ts';
import { silentLog } from '../../src/lib/log.ts';
import {
  formatOpenRef,
  type Person,
  type Proposal,
  type ProposalStep,
  type ProposalError,
  type ProposalErrorKind,
  type SentProposal,
} from '../../src/proposals/proposal.ts';
import { type Decision, Proposals } from '../../src/proposals/proposals.ts';
import { atTime } from '../support/at-time.ts';
import { followBranch } from '../support/branch.ts';
import { committerOn } from '../support/committing.ts';
import {
  author,
  commitUnreadable,
  importProposals,
  maintainer,
  openProposals,
  proposalSettings,
  sentStep,
  visitor,
} from '../support/proposals.ts';
import { testRepository, type TestRepository } from '../support/repository.ts';
import { accountId, botId, collection, mainPage, pagePath, profile, translation } from '../support/sample.ts';

const homer = botId('190519304972663312');
const homerPath = pagePath(homer);
const files = { [homerPath]: mainPage(), 'botshelf.json': proposalSettings };

/** The change of Homer that tests send, with these values replaced. */
function change(values: Partial<SentProposal> = {}): SentProposal {
  return { subject: homer, proposer: author, ...edit({ nsfw: true }), note: 'Try /donut.', ...values };
}

/** A change of these keys of Homer. */
function edit(keys: Readonly<Record<string, unknown>>): Pick<SentProposal, 'pages'> {
  return { pages: new Map([[homerPath, mainPage(keys)]]) };
}

function decision({ version }: Proposal, values: Partial<Decision> = {}): Decision {
  return { state: 'accepted', reviewer: maintainer, version, reason: null, text: '', ...values };
}

async function rejectsWith(
  work: Promise<unknown>,
  kind: ProposalErrorKind,
  values?: ProposalError['values'],
): Promise<void> {
  await rejects(work, { name: 'ProposalError', kind, ...(values && { values }) });
}

function refs(repository: TestRepository): string {
  return repository
    .git('for-each-ref', '--format=%(refname)', 'refs/botshelf')
    .replaceAll(/\/[0-9]{13}$/gm, '/<time>');
}

const openRef = `refs/botshelf/proposals/${homer}/${author.id}`;
const closedRef = `refs/botshelf/closed/${homer}/${author.id}/<time>`;

describe('proposals', () => {
  let repository: TestRepository;
  let proposals: Proposals;

  beforeEach(async () => {
    repository = testRepository(files);
    proposals = await openProposals(repository.folder);
  });

  async function send(values: Partial<SentProposal> = {}): Promise<Proposal> {
    return (await proposals.send(change(values))).proposal;
  }

  const statesOf = ({ list } = proposals): string[] => list.listOf(author.id).map(({ state }) => state);
  const set = (settings: object): string =>
    repository.commit({ 'botshelf.json': JSON.stringify({ maintainers: [maintainer.id], ...settings }) });
  const block = async (account: Person | null): Promise<void> => {
    const blocked = account && { ...nothingBlocked, accounts: { [account.id]: {} } };
    proposals = await openProposals(repository.folder, { blocked: () => blocked });
  };

  it('are commits on the tip of the branch, whose tree is the branch with the pages', async () => {
    const tip = repository.git('rev-parse', 'main');
    const { version } = await send();
    strictEqual(refs(repository), openRef);
    strictEqual(repository.git('rev-parse', openRef), version);
    strictEqual(repository.git('rev-parse', `${openRef}^`), tip);
    strictEqual(repository.git('diff', '--name-only', tip, openRef), homerPath);
    match(repository.git('log', '-1', '--format=%B', openRef), /Try \/donut\.\n\nSubject: /);
    strictEqual(repository.git('rev-parse', 'main'), tip);
    strictEqual(repository.status(), '');
    repository.git('fsck', '--strict', '--no-dangling');
  });

  it('are there after a restart, in the order in which they were sent', async () => {
    const first = await send();
    const second = await send({ proposer: visitor });
    const again = await openProposals(repository.folder);
    deepStrictEqual(again.list.open, [first, second]);
    strictEqual(again.list.find(homer, visitor.id)?.text, 'Try /donut.');
  });

  it('are there from the next step on where they could not be read at the start @slow', async () => {
    const sent = await send();
    const { folder } = repository;
    const repositoryOpener = new RepositoryOpener(folder);
    const again = new Proposals({
      repositoryOpener,
      committer: committerOn(folder),
      settings: async () => toSettings(),
      blocked: () => nothingBlocked,
      needsMaintainer: true,
      log: silentLog,
    });
    renameSync(join(folder, '.git'), join(folder, 'away'));
    await rejects(again.load());
    renameSync(join(folder, 'away'), join(folder, '.git'));
    await again.mergeFetched();
    deepStrictEqual(again.list.open, [sent]);
    repositoryOpener.close();
  });

  it('are sent again on top of themselves, alone where the branch has not moved, and keep the pages that are not sent again', async () => {
    const first = await send({ sentAt: 1_700_000_000_000 });
    const german = pagePath(homer, 'de');
    repository.commit({ 'README.md': 'Hello' });
    const pages = new Map([[german, translation('Homer', 'Beantwortet Fragen.')]]);
    const second = await send({ pages, note: '', sentAt: 1_600_000_000_000 });
    strictEqual(repository.git('rev-parse', `${openRef}^1`), first.version);
    strictEqual(repository.git('rev-parse', `${openRef}^2`), repository.git('rev-parse', 'main'));
    deepStrictEqual(repository.git('diff', '--name-only', 'main', openRef).split('\n'), [german, homerPath]);
    strictEqual(second.sentAt, 1_700_000_000_001, 'later than the first, though its clock stepped back');
    const other = await send({ proposer: visitor, sentAt: 1_700_000_000_500 });
    const third = await send({ note: 'Again.' });
    strictEqual(repository.git('log', '-1', '--format=%P', third.version), second.version);
    deepStrictEqual(proposals.list.open, [third, other], 'it keeps its place in the queue');
    deepStrictEqual(proposals.list.open, (await openProposals(repository.folder)).list.open, 'restarted');
    const { steps, changed } = await proposals.read(second);
    deepStrictEqual(
      steps.map(({ text }) => text),
      ['', 'Try /donut.'],
    );
    deepStrictEqual([...changed.keys()].toSorted(), [german, homerPath]);
  });

  it('are accepted: one commit on the branch, with who proposed and who reviewed, and a closed ref', async () => {
    const proposal = await send();
    const steps: Proposal[] = [];
    proposals.subscribe((step) => void steps.push(step));
    const { proposal: closed, shared } = await proposals.decide(homer, author.id, decision(proposal));
    deepStrictEqual([shared, steps], [true, [closed]]);
    strictEqual(closed.commit, repository.git('rev-parse', 'main'));
    strictEqual(
      repository.git('log', '-1', '--format=%B'),
      `Update Homer (${homer}): nsfw\n\nBot: ${homer}\nProposed-by: ${author.id}\nReviewed-by: ${maintainer.id}`,
    );
    match(repository.read(homerPath), /"nsfw": true,\n +"edited": \d+\n/);
    strictEqual(refs(repository), closedRef);
    strictEqual(repository.status(), '');
    deepStrictEqual(proposals.list.open, []);
    deepStrictEqual(proposals.list.listOf(author.id), [closed]);
  });

  it('are of the profile of the account that sends them, published at once for an author whose name stays @slow', async () => {
    const subject = `profile-${author.id}` as const;
    const path = `people/${author.id}.json`;
    const write = (name: string): SentProposal['pages'] => new Map([[path, profile({ name })]]);
    await rejectsWith(send({ subject, proposer: visitor, pages: write('Ned') }), 'off');
    await rejectsWith(send({ subject, pages: write('') }), 'faulty');
    const proposal = await send({ subject, pages: write('Homer S.') });
    strictEqual(refs(repository), `refs/botshelf/proposals/${subject}/${author.id}`);
    const accepted = await proposals.decide(subject, author.id, decision(proposal));
    strictEqual(accepted.proposal.commit, repository.git('rev-parse', 'main'));
    strictEqual(
      repository.git('log', '-1', '--format=%B'),
      `Add ${path}\n\nProposed-by: ${author.id}\nReviewed-by: ${maintainer.id}`,
    );
    set({ proposals: { authors: 'publish' } });
    const website = 'https://example.org';
    const pages = new Map([[path, profile({ name: 'Homer S.', website })]]);
    const { state } = await send({ subject, pages, isAuthor: true });
    strictEqual(state, 'accepted');
    strictEqual(repository.read(path), profile({ name: 'Homer S.', website }));
    strictEqual(repository.status(), '');
    strictEqual((await send({ subject, pages: write('Marge'), isAuthor: true })).state, 'waiting');
    strictEqual((await send({ subject, pages: write('Homer S.'), isAuthor: false })).state, 'waiting');
  });

  it('are of a collection, whose files are merged key by key @slow', async () => {
    const subject = 'collection-fun';
    const path = 'collections/fun.en.md';
    const bots = [homer, '1'];
    await rejectsWith(send({ subject, pages: new Map([[path, collection({ bots: [homer] })]]) }), 'faulty');
    repository.commit({ [path]: collection({ bots }) });
    const proposal = await send({ subject, pages: new Map([[path, collection({ bots, title: 'Fun' })]]) });
    repository.commit({ [path]: collection({ bots: [homer, '2'] }) });
    const { changed, kind } = await proposals.read(proposal);
    deepStrictEqual([...changed], [[path, collection({ bots: [homer, '2'], title: 'Fun' })]]);
    strictEqual(kind, 'others');
    const again = await openProposals(repository.folder);
    strictEqual(again.list.open[0]?.subject, subject);
    await again.decide(subject, author.id, decision(proposal));
    match(repository.read(path), /"title": "Fun"/);
  });

  it('add a bot', async () => {
    const id = botId('77');
    const pages = new Map([[pagePath(id), mainPage({ name: 'Ned', authors: [visitor.id] })]]);
    const bot = { id: accountId(id), name: 'Ned' };
    await rejectsWith(send({ subject: id, proposer: bot, pages }), 'off');
    const proposal = await send({ subject: id, proposer: visitor, pages });
    strictEqual((await proposals.read(proposal)).kind, 'newBots');
    await proposals.decide(id, visitor.id, decision(proposal));
    strictEqual(repository.git('log', '-1', '--format=%s'), 'Add Ned (77)');
    strictEqual(repository.read(pagePath(id)), pages.get(pagePath(id)));
    strictEqual(repository.status(), '');
  });

  it('wait for their account where changes are asked for, until they are sent again', async () => {
    const proposal = await send();
    const asked = decision(proposal, { state: 'changes-asked', text: 'Which server can I test it on?' });
    const { proposal: answered } = await proposals.decide(homer, author.id, asked);
    strictEqual(answered.state, 'changes-asked');
    strictEqual(proposals.list.find(homer, author.id)?.text, 'Which server can I test it on?');
    const { state, reviewer } = await send({ note: 'discord.gg/donut' });
    deepStrictEqual({ state, reviewer }, { state: 'waiting', reviewer: null });
  });

  it('are declined with a reason, and withdrawn by their account', async () => {
    const declined = decision(await send(), { state: 'declined', reason: 'duplicate', text: 'See Bart.' });
    const { proposal } = await proposals.decide(homer, author.id, declined);
    deepStrictEqual([proposal.state, proposal.reason, proposal.text], ['declined', 'duplicate', 'See Bart.']);
    strictEqual(proposals.list.findLast(homer, author.id), proposal);
    const { version } = await send();
    strictEqual(proposals.list.findLast(homer, author.id)?.version, version);
    await rejectsWith(proposals.withdraw(homer, author.id, proposal.version), 'changed');
    strictEqual((await proposals.withdraw(homer, author.id, version)).proposal.state, 'withdrawn');
    deepStrictEqual(statesOf(), ['withdrawn', 'declined']);
    strictEqual(proposals.list.findLast(botId('1'), author.id), undefined);
    strictEqual(refs(repository), `${closedRef}\n${closedRef}`);
    strictEqual(repository.git('log', '--format=%s', 'main'), 'Begin');
  });

  it('wait as long as reviewers took in the last 30 days, from the first sending, as five of them say', async () => {
    let account = 2000;
    const sendAgain = async (hours: number, id = String(++account)): Promise<Proposal> =>
      await send({ proposer: { id: accountId(id), name: 'Ned' }, sentAt: Date.now() - hours * 3_600_000 });
    const decide = async (hours: number, id?: string): Promise<void> => {
      const proposal = await sendAgain(hours, id);
      await proposals.decide(homer, proposal.proposer.id, decision(proposal, { state: 'declined' }));
    };
    const { version } = await send();
    await proposals.withdraw(homer, author.id, version);
    set({ proposals: { authors: 'publish' } });
    for (let n = 0; n < 5; n++) await send({ ...edit({ nsfw: n % 2 === 0 }), isAuthor: true });
    repository.commit({ 'botshelf.json': proposalSettings });
    for (const hours of [0, 0.1, 30]) await decide(hours);
    await decide(0, (await sendAgain(2.5)).proposer.id);
    strictEqual(proposals.list.medianWaitMs(), undefined, 'four decisions');
    await decide(40);
    strictEqual(proposals.list.medianWaitMs(), 3 * 3_600_000);
    for (let n = 0; n < 6; n++) await decide(-1);
    strictEqual(proposals.list.medianWaitMs(), 3_600_000, 'an hour at least, also if a clock was wrong');
    await atTime(Date.now() + 31 * 86_400_000, async () => {
      strictEqual(await Promise.resolve(proposals.list.medianWaitMs()), undefined);
    });
  });

  it('are reviewed, published or not taken as the settings say, where they name a maintainer', () => {
    const find = (policies: object, authors: string[] | null, account: Person | null): string =>
      proposals.findPolicy(
        toSettings({ maintainers: [maintainer.id], proposals: policies }),
        authors,
        account?.id ?? null,
      );
    const policies = { newBots: 'off', authors: 'publish' };
    const by = [author.id];
    for (const [expected, settings, authors, account] of [
      ['off', policies, null, author],
      ['publish', policies, by, author],
      ['review', policies, by, visitor],
      ['off', policies, null, null],
      ['review', policies, by, null],
      ['review', { authors: 'off' }, by, null],
      ['off', { authors: 'off', others: 'off' }, by, null],
    ] as const)
      strictEqual(find(settings, authors, account), expected, JSON.stringify([settings, authors, account]));
    strictEqual(proposals.findPolicy(toSettings(), by, author.id), 'off');
  });

  it('are not taken of who is blocked, nor where nobody can tell', async () => {
    await block(visitor);
    await rejectsWith(send({ proposer: visitor }), 'blocked');
    await send();
    await block(null);
    await rejects(send(), isUnavailable);
  });

  it('of a new bot warn the reviewers of a sender who is not among its authors', async () => {
    const findRules = async (bot: string, authors: readonly string[]): Promise<unknown> => {
      const pages = new Map([[pagePath(bot), mainPage({ authors })]]);
      const { proposal } = await proposals.send(change({ subject: botId(bot), pages }));
      return (await proposals.read(proposal)).findings.map(({ rule, severity }) => `${rule} ${severity}`);
    };
    deepStrictEqual(await findRules('1001', ['1001', author.id]), []);
    deepStrictEqual(await findRules('1002', ['1001']), ['sender warning']);
  });

  it('of who is blocked since are read, with that, but not accepted', async () => {
    const proposal = await send({ proposer: visitor });
    await block(visitor);
    const { findings } = await proposals.read(proposal);
    deepStrictEqual(
      findings.map(({ path, rule, severity }) => [path, rule, severity]),
      [[homerPath, 'blocked', 'error']],
    );
    await rejects(proposals.decide(homer, visitor.id, decision(proposal)), { kind: 'faulty' });
    await block(maintainer);
    strictEqual(await proposals.isMaintainer(maintainer.id), false);
    await rejectsWith(proposals.decide(homer, visitor.id, decision(proposal)), 'not-maintainer');
    await block(null);
    deepStrictEqual((await proposals.read(proposal)).findings, []);
    await rejects(proposals.decide(homer, visitor.id, decision(proposal)), { code: 'unavailable' });
  });

  it('are neither taken nor decided while the settings have a fault, or the branch has no commit', async () => {
    const proposal = await send();
    repository.commit({ 'botshelf.json': '{' });
    await rejectsWith(send({ note: 'Again.' }), 'off');
    await rejectsWith(proposals.decide(homer, author.id, decision(proposal)), 'not-maintainer');
    const free = await openProposals(repository.folder, { needsMaintainer: false });
    strictEqual(free.findPolicy(toSettings(), [], author.id), 'review');
    strictEqual((await free.send(change({ note: 'Again.' }))).proposal.text, 'Again.');
    repository.git('switch', '-q', '--orphan', 'none');
    await rejects(send(), /the branch has no commit yet/);
    await rejects(proposals.readTip(), isUnavailable);
  });

  it('are of an author where one main page says so, and of others where two do', async () => {
    strictEqual((await proposals.read(await send())).kind, 'authors');
    strictEqual((await proposals.read(await send({ proposer: visitor }))).kind, 'others');
    repository.commit({ [pagePath(homer, 'fr')]: mainPage() });
    strictEqual((await proposals.read(proposals.list.open[0] as Proposal)).kind, 'others');
  });

  it('are not sent again in part where the branch has changed the rest, and the field is named', async () => {
    const german = pagePath(homer, 'de');
    const words = translation('Homer', 'Ja.');
    await send(edit({ name: 'Homer J.' }));
    repository.commit({ [homerPath]: mainPage({ name: 'Max Power' }) });
    await rejectsWith(send({ pages: new Map([[german, words]]) }), 'conflict', { fields: 'name' });
    const all = new Map([
      [homerPath, mainPage({ name: 'Homer J.' })],
      [german, words],
    ]);
    deepStrictEqual((await proposals.read(await send({ pages: all }))).conflicts, []);
  });

  it('are in a catalogue that is a folder of a repository, and close when its branch has them @slow', async () => {
    repository = testRepository({
      [`inner/${homerPath}`]: mainPage(),
      'inner/botshelf.json': proposalSettings,
    });
    proposals = await openProposals(`${repository.folder}/inner`);
    const look = followBranch(repository.folder, proposals);
    const proposal = await send();
    strictEqual(repository.git('diff', '--name-only', 'main', openRef), `inner/${homerPath}`);
    await proposals.decide(homer, author.id, decision(proposal));
    match(repository.read(`inner/${homerPath}`), /"nsfw": true/);
    await send(edit({ category: 'music' }));
    await look();
    repository.commit({ 'inner/notes': '', [homerPath]: mainPage({ category: 'music' }) });
    await look();
    strictEqual(proposals.list.open.length, 1);
    repository.commit({ [`inner/${homerPath}`]: mainPage({ category: 'music' }) });
    await look();
    deepStrictEqual(proposals.list.open, []);
  });

  it('take turns among accounts, and are refused while 25 others of their account wait', async () => {
    const ended: string[] = [];
    const withdraw = async (account: AccountId): Promise<void> => {
      await proposals.withdraw(homer, account, '').finally(() => ended.push(account));
    };
    const results = await Promise.allSettled([
      ...Array.from({ length: 28 }, async () => await withdraw(author.id)),
      withdraw(visitor.id),
    ]);
    // The refused ones end first, then the running one; from then on, accounts take turns.
    strictEqual(ended.indexOf(visitor.id) <= 4, true);
    const kinds = results.map((result) => (result.status === 'rejected' ? result.reason : undefined));
    strictEqual(kinds.filter((error) => error.kind === 'gone').length, 27);
    deepStrictEqual(
      kinds.slice(26, 28).map(({ code }) => code),
      ['share-full', 'share-full'],
    );
  });

  it('have refs of their own where two end at one time', async () => {
    const now = Date.now();
    await atTime(now, async () => {
      for (let i = 0; i < 2; i++) await proposals.withdraw(homer, author.id, (await send()).version);
    });
    const last = proposals.list.listOf(author.id);
    deepStrictEqual(
      last.map(({ closedAt }) => closedAt),
      [now + 1, now],
    );
    deepStrictEqual(proposals.list.listClosedSince(now), [last[0]]);
  });

  it('end also where their open ref cannot be deleted, which the next start does @slow', async () => {
    const { version } = await send();
    repository.write(`.git/${openRef}.lock`, '');
    strictEqual((await proposals.withdraw(homer, author.id, version)).proposal.state, 'withdrawn');
    deepStrictEqual(proposals.list.open, []);
    strictEqual(refs(repository), `${closedRef}\n${openRef}`);
    rmSync(join(repository.folder, '.git', `${openRef}.lock`));
    deepStrictEqual((await openProposals(repository.folder)).list.open, []);
    strictEqual(refs(repository), closedRef);
  });

  it('go on after a git that failed, whose locks are removed @slow', async () => {
    repository.write(`.git/${openRef}.lock`, '');
    await rejects(send(), isUnavailable);
    const { version } = await send();
    strictEqual(repository.git('rev-parse', openRef), version);
  });

  it('are not accepted where the branch has changed the same, and the field is named', async () => {
    const proposal = await send(edit({ name: 'Homer J.' }));
    repository.commit({ [homerPath]: mainPage({ name: 'Max Power' }) });
    const tip = repository.git('rev-parse', 'main');
    await rejects(proposals.decide(homer, author.id, decision(proposal)), { values: { fields: 'name' } });
    strictEqual(repository.git('rev-parse', 'main'), tip);
    strictEqual(repository.status(), '');
    deepStrictEqual((await proposals.read(proposal)).conflicts, ['name']);
  });

  it('are accepted without a commit where the branch has their changes', async () => {
    const proposal = await send();
    const tip = repository.commit({ [homerPath]: mainPage({ nsfw: true }) });
    const { proposal: end } = await proposals.decide(homer, author.id, decision(proposal, { text: 'Yes.' }));
    deepStrictEqual([end.state, end.commit, end.reviewer, end.text], ['accepted', null, maintainer, 'Yes.']);
    strictEqual(repository.git('rev-parse', 'main'), tip);
    strictEqual(refs(repository), closedRef);
  });

  it('are neither sent nor accepted where the result would break a rule, nor sent where they change nothing', async () => {
    await rejectsWith(send(edit({})), 'unchanged');
    await rejectsWith(send(edit({ name: '' })), 'faulty');
    const proposal = await send(edit({ category: 'music' }));
    set({ categories: { fun: {} } });
    const message = 'category: "music" is not an allowed value: choose fun or other';
    await rejectsWith(proposals.decide(homer, author.id, decision(proposal)), 'faulty', { fault: message });
  });

  it('are decided once, about the version that was seen, by maintainers only', async () => {
    const proposal = await send();
    const byAuthor = decision(proposal, { reviewer: author });
    await rejectsWith(proposals.decide(homer, author.id, byAuthor), 'not-maintainer');
    await send({ note: 'Again.' });
    await rejectsWith(proposals.decide(homer, author.id, decision(proposal)), 'changed');
    const last = proposals.list.find(homer, author.id) as Proposal;
    const both = await Promise.allSettled([
      proposals.decide(homer, author.id, decision(last)),
      proposals.decide(homer, author.id, decision(last, { state: 'declined' })),
    ]);
    deepStrictEqual(
      both.map(({ status }) => status),
      ['fulfilled', 'rejected'],
    );
    await rejectsWith(proposals.withdraw(homer, author.id, last.version), 'gone');
  });

  it('are closed as accepted where the branch has their changes already, and one that cannot be read stays open', async () => {
    commitUnreadable(repository, homer, visitor);
    await send();
    repository.commit({ [homerPath]: mainPage({ nsfw: true, edited: 1_700_000_000_001 }) });
    const again = await openProposals(repository.folder);
    deepStrictEqual(
      [again.list.open.map(({ proposer, state }) => `${proposer.id} ${state}`), statesOf(again)],
      [[`${visitor.id} waiting`], ['accepted']],
    );
    match(refs(repository), new RegExp(`^${closedRef}\n`));
  });

  it('are not open again where a crash came before their open ref was deleted', async () => {
    const { version } = await send();
    const declined = decision(await send({ note: 'Again.' }), { state: 'declined', reason: 'spam' });
    await proposals.decide(homer, author.id, declined);
    repository.git('update-ref', openRef, declined.version);
    deepStrictEqual((await openProposals(repository.folder)).list.open, []);
    strictEqual(refs(repository), closedRef);
    repository.git('update-ref', openRef, version);
    strictEqual((await openProposals(repository.folder)).list.open.length, 1);
  });

  it('are published at once where an author may, but not what is always reviewed', async () => {
    set({ proposals: { authors: 'publish', others: 'off' } });
    const published = await send(edit({ category: 'music' }));
    deepStrictEqual([published.state, published.reviewer], ['accepted', null]);
    match(repository.read(homerPath), /"category": "music"/);
    const page = repository.read(homerPath).replace('"authors": [', '"authors": ["7", ');
    strictEqual((await send({ pages: new Map([[homerPath, page]]) })).state, 'waiting');
    await rejectsWith(send({ proposer: visitor }), 'off');
    const known = [nothingBlocked];
    proposals = await openProposals(repository.folder, { blocked: () => known.pop() ?? null });
    const waits = await send({ ...edit({}), note: 'Again.' });
    deepStrictEqual([waits.state, proposals.list.open], ['waiting', [waits]]);
  });

  it('wait again, in their place, where the reviewer takes back a refusal within a minute', async () => {
    const first = await send();
    await send({ proposer: visitor });
    const refused = { state: 'declined', reason: 'duplicate', text: 'No.' } as const;
    const asked = { state: 'changes-asked', text: 'Why?' } as const;
    let { version } = first;
    for (const values of [refused, asked]) {
      const { proposal } = await proposals.decide(homer, author.id, { ...decision(first, values), version });
      const takeBack = async (by = maintainer, at = Date.now()): Promise<Proposal> =>
        await atTime(
          at,
          async () => (await proposals.takeBack(homer, author.id, proposal.version, by)).proposal,
        );
      await rejectsWith(takeBack(visitor), 'gone');
      await rejectsWith(takeBack(maintainer, Date.now() + 61_000), 'gone');
      const again = await takeBack();
      await rejectsWith(takeBack(), 'changed');
      deepStrictEqual([again.state, again.reviewer, again.reason], ['waiting', maintainer, null]);
      const accounts = proposals.list.open.map(({ proposer }) => proposer.id);
      deepStrictEqual(accounts, [author.id, visitor.id]);
      strictEqual(refs(repository), [openRef, formatOpenRef(homer, visitor.id)].toSorted().join('\n'));
      ({ version } = again);
    }
    strictEqual(repository.read(homerPath), mainPage());
    const reloaded = await openProposals(repository.folder);
    deepStrictEqual(
      reloaded.list.open.map((open) => [open.version, open.takenBack]),
      proposals.list.open.map((open) => [open.version, open.takenBack]),
    );
    const [open] = reloaded.list.open;
    const { changed, steps } = await reloaded.read(open as Proposal);
    deepStrictEqual([...changed], [...change().pages]);
    strictEqual(steps.map(({ state }) => state).join(), 'waiting,changes-asked,waiting,declined,waiting');
  });

  it('stay accepted, and are not taken back', async () => {
    const { proposal } = await proposals.decide(homer, author.id, decision(await send()));
    await rejectsWith(proposals.takeBack(homer, author.id, proposal.version, maintainer), 'gone');
    strictEqual(repository.git('rev-parse', 'main'), proposal.commit);
    strictEqual(refs(repository), closedRef);
  });

  it('are in the order in which they were sent, whatever the clocks said', async () => {
    const day = 86_400_000;
    const now = Date.now();
    const no = { state: 'declined', reason: 'rules' } as const;
    const first = await atTime(now + 2 * day, async () => await send());
    await atTime(now + 4 * day, async () => await proposals.decide(homer, author.id, decision(first, no)));
    const second = await atTime(now, async () => await send());
    strictEqual(second.sentAt, first.sentAt + 1);
    strictEqual(proposals.list.findLast(homer, author.id), second);
    const { proposal } = await atTime(
      now,
      async () => await proposals.decide(homer, author.id, decision(second)),
    );
    for (const known of [proposals, await openProposals(repository.folder)]) {
      deepStrictEqual(known.list.findLast(homer, author.id), proposal);
      deepStrictEqual(statesOf(known), ['accepted', 'declined']);
    }
    const other = await send({
      subject: botId('7'),
      pages: new Map([[pagePath('7'), mainPage({ name: 'Ned' })]]),
    });
    strictEqual(other.sentAt, second.sentAt + 1);
  });

  it('are limited to five open and twenty sent a day for an account, also of those that ended', async () => {
    const asBot = (id: string): Partial<SentProposal> => ({
      subject: botId(id),
      pages: new Map([[pagePath(id), mainPage({ name: `Bot ${id}` })]]),
    });
    const sentBefore = (['3', '4', '5'] as const).map((id): [string, ProposalStep[]] => {
      const subject = botId(id);
      const steps = Array.from({ length: id === '3' ? 13 : 1 }, () => ({ ...sentStep, subject }));
      return [formatOpenRef(subject, author.id), steps];
    });
    importProposals(repository.folder, new Map(sentBefore));
    await proposals.load();
    for (const id of ['1', '2']) await send(asBot(id));
    await rejectsWith(send(asBot('6')), 'too-many-open', { max: 5 });
    const { version } = await send({ ...asBot('2'), note: 'Again.' });
    await proposals.withdraw(botId('2'), author.id, version);
    for (const note of ['19', '20']) await send({ ...asBot('1'), note });
    await rejectsWith(send(asBot('1')), 'too-many-sent', { max: 20 });
    await atTime(Date.now() + 86_500_000, async () => await send(asBot('1')));
  });

  it('are limited to 64 KiB, and what is said of them to 1,000 characters', async () => {
    const german = translation('Homer', 'Ja.', '一'.repeat(15_200));
    const rest = 65_536 - Buffer.byteLength(german + mainPage({}, ''));
    const pages = (more: number): SentProposal['pages'] =>
      new Map([
        [pagePath(homer, 'de'), german],
        [homerPath, mainPage({}, 'x'.repeat(rest + more))],
      ]);
    await rejectsWith(send({ pages: pages(1) }), 'too-large', { max: 64 });
    await rejectsWith(send({ note: 'x'.repeat(1001) }), 'too-large', { max: 64 });
    const proposal = await send({ pages: pages(0), note: 'x'.repeat(1000) });
    const decide = async (length: number): Promise<unknown> =>
      await proposals.decide(homer, author.id, decision(proposal, { text: 'x'.repeat(length) }));
    await rejectsWith(decide(1001), 'too-large', { max: 64 });
    await decide(1000);
  });

  it('are limited to 10,000 open ones of all, which can be sent again @long', async () => {
    await send();
    const others = Array.from({ length: 9_999 }, (_, i): [string, ProposalStep[]] => {
      const other = { ...sentStep, subject: botId(String(i + 1)), proposer: visitor };
      return [formatOpenRef(other.subject, visitor.id), [other]];
    });
    importProposals(repository.folder, new Map(others));
    await proposals.load();
    strictEqual(proposals.list.open.length, 10_000);
    await rejectsWith(send({ proposer: maintainer }), 'too-many-in-all', { max: 10_000 });
    strictEqual((await send({ note: 'Again.' })).text, 'Again.');
  });

  it('have the last 200 of their steps', async () => {
    const steps = Array.from({ length: 201 }, (_, i) => ({ ...sentStep, text: `Note ${i}.` }));
    importProposals(repository.folder, new Map([[openRef, steps]]));
    await proposals.load();
    const { steps: read } = await proposals.read(proposals.list.open[0] as Proposal);
    deepStrictEqual([read.length, read[0]?.text, read[199]?.text], [200, 'Note 200.', 'Note 1.']);
  });

  it('of young accounts are refused where the settings say so', async () => {
    set({ proposals: { minAccountAgeDays: 30 } });
    const now = Date.now();
    const created = now - 30 * 86_400_000;
    await atTime(now, async () => {
      await rejectsWith(send({ accountCreatedAt: created + 1 }), 'new-account', { days: 30 });
      await send({ accountCreatedAt: created });
    });
  });

  it('that ended are forgotten after 90 days', async () => {
    const { version } = await send();
    await proposals.withdraw(homer, author.id, version);
    const later = Date.now() + 91 * 86_400_000;
    const listEnded = async (): Promise<number> =>
      (await openProposals(repository.folder)).list.listOf(author.id).length;
    await atTime(later, async () => {
      strictEqual(await listEnded(), 1, 'only the clock says so');
      repository.commitAll([{ files: {}, at: Math.floor(later / 1000) }]);
      strictEqual(await listEnded(), 0);
    });
    strictEqual(refs(repository), '');
  });
});
