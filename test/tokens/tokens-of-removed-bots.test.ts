import { match, strictEqual } from 'node:assert/strict';
import { chmodSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CommittedState, createStateRef } from '../../src/counts/state-ref.ts';
import { stateRef } from '../../src/git/refs.ts';
import { silentLog as log } from '../../src/lib/log.ts';
import { mergeState } from '../../src/sync/remote.ts';
import {
  revokeTokens,
  TokensOfRemovedBots,
  type TokensOfRemovedBotsOptions,
} from '../../src/tokens/tokens.ts';
import { followBranch } from '../support/branch.ts';
import { eventually } from '../support/eventually.ts';
import { openerOf, openUntilEnd } from '../support/opened.ts';
import { type TestRepository, testRepository } from '../support/repository.ts';
import { botId, mainPage, pagePath, translation } from '../support/sample.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { issueTestToken, issueTestTokens } from '../support/token.ts';

const homer = '7';
const pages = [pagePath(homer), pagePath(homer, 'de')] as const;

interface Ready {
  readonly parts: { readonly state: { readonly faults: readonly string[] } };
}

interface Catalogue {
  readonly repository: TestRepository;
  readonly token: string;
  readonly other: string;
}

/** A catalogue with two bots that have tokens. */
async function begin(): Promise<Catalogue> {
  const repository = testRepository({
    [pages[0]]: mainPage({ name: 'Homer' }),
    [pages[1]]: translation('Homer', 'Antwortet.'),
    [pagePath('8')]: mainPage({ name: 'Marge' }),
  });
  const { folder } = repository;
  const tokens = await issueTestTokens(folder, [homer, '8']);
  return { repository, token: tokens.get(homer) ?? '', other: tokens.get('8') ?? '' };
}

function remove({ git }: TestRepository): void {
  git('rm', '-q', ...pages);
  git('commit', '-q', '-m', 'Remove');
}

/** The same, as a commit of an hour ago. */
function removeEarlier({ commitAll }: TestRepository): void {
  commitAll([{ files: { [pages[0]]: null, [pages[1]]: null }, at: Math.floor(Date.now() / 1000) - 3600 }]);
}

/** Follows the branch as a service does from its start, but looks only when it is told to. */
function open({ folder }: TestRepository, remote: TokensOfRemovedBotsOptions['remote'] = null) {
  const committed = new CommittedState(createStateRef(openerOf(folder), log), log);
  const consumer = new TokensOfRemovedBots({
    state: { write: async (work) => await work(committed), tokens: committed.state },
    remote,
    log,
  });
  const look = followBranch(folder, consumer, join(folder, 'var/branch'));
  return { look, fault: () => consumer.fault(), committed };
}

/** Which of the bots have tokens, by their ids. */
async function listTokens({ folder }: TestRepository): Promise<string> {
  const committed = new CommittedState(createStateRef(openerOf(folder), log), log);
  await committed.refresh();
  return ['7', '8'].filter((id) => committed.state.hasToken(botId(id))).join(' ');
}

async function post(service: TestService, id: string, token: string): Promise<[status: number, why: string]> {
  const { status, json } = await service.post(id, token, { count: 1 });
  return [status, (json as { detail?: string }).detail ?? ''];
}

describe('the token of a bot that was removed', () => {
  it('ends when a person commits that while the service runs, and /readyz names those that do not end @slow', async () => {
    const { repository, token, other } = await begin();
    const service = await startTestService({}, { root: repository.folder });
    strictEqual((await post(service, homer, token))[0], 200);
    remove(repository);
    await eventually(async () => strictEqual(await listTokens(repository), '8'));
    await eventually(() => match(service.log(), /revoked 1 token of removed bots/));
    match(repository.git('log', '-1', '--format=%s', 'refs/botshelf/state'), /^Revoke the token of 7, by /);
    repository.git('revert', '--no-edit', 'HEAD');
    await eventually(async () => strictEqual((await service.request('/api/v2/bots/7')).status, 200));
    const [status, why] = await post(service, homer, token);
    strictEqual(status, 401);
    match(why, /this token is unknown or was revoked: .*botshelf token 7/);
    strictEqual((await post(service, '8', other))[0], 200);
    const issued = await issueTestToken(repository.folder, homer);
    strictEqual((await post(service, homer, issued))[0], 200);
    service.expectLog(/more than half of the bots/);
    repository.git('mv', 'bots', 'moved');
    repository.commit({}, 'Move');
    await eventually(async () => {
      const { json } = await service.request('/readyz');
      match((json as Ready).parts.state.faults.join(), /did not end \(2 left\)/);
    });
  });

  it('ends where that was committed while the service was stopped, not in a clone that never had the bot', async () => {
    for (const isNew of [false, true]) {
      const { repository } = await begin();
      await open(repository).look();
      remove(repository);
      repository.commit({}, 'Later');
      if (isNew) rmSync(join(repository.folder, 'var'), { recursive: true });
      strictEqual(await listTokens(repository), '7 8');
      await open(repository).look();
      strictEqual(await listTokens(repository), isNew ? '7 8' : '8');
    }
  });

  it('ends when the bot is back before that is looked at, also after a merge, and where it was stopped @long', async () => {
    for (const isStopped of [true, false]) {
      const { repository } = await begin();
      const running = open(repository);
      const look = async (): Promise<void> => await (isStopped ? open(repository) : running).look();
      await look();
      repository.git('switch', '-q', '-c', 'without');
      remove(repository);
      repository.git('switch', '-q', 'main');
      repository.commit({ 'other.md': '' });
      repository.git('merge', '-q', '--no-edit', 'without');
      repository.git('revert', '--no-edit', 'without');
      repository.commit({ 'other.md': 'Later' });
      await look();
      strictEqual(await listTokens(repository), '8', String(isStopped));
    }
  });

  it('does not end with more than half of all bots, and is named until its bot is back or it is revoked', async () => {
    const { repository } = await begin();
    const { look, fault, committed } = open(repository);
    await committed.refresh();
    await look();
    repository.git('mv', 'bots', 'moved');
    repository.commit({}, 'Move');
    await look();
    strictEqual(await listTokens(repository), '7 8');
    match(
      fault() ?? '',
      /^a commit removed more than half of the bots, so their tokens did not end \(2 left/,
    );
    repository.git('mv', 'moved', 'bots');
    repository.git('rm', '-q', '-f', ...pages);
    repository.commit({}, 'Move back');
    await look();
    match(fault() ?? '', /\(1 left\): .* such as 7$/);
    await revokeTokens(committed, [botId(homer)], { name: 'user Ada', known: 'all' });
    strictEqual(fault(), null);
    strictEqual(await listTokens(repository), '8');
  });

  it('that is issued when the bot is back stays, also on a machine that looks late @slow', async () => {
    const { repository } = await begin();
    const late = open(repository);
    await late.look();
    removeEarlier(repository);
    await open(repository).look();
    repository.git('revert', '--no-edit', 'HEAD');
    await issueTestToken(repository.folder, homer);
    await late.look();
    strictEqual(await listTokens(repository), '7 8');
  });

  it('does not end while its files are gone, faulty or unreadable and no commit says so @long', async () => {
    const { repository } = await begin();
    const bots = join(repository.folder, 'bots');
    const tokens = open(repository);
    const look = async (): Promise<void> => {
      repository.git('commit', '-q', '--allow-empty', '-m', 'Another');
      await tokens.look();
      await open(repository).look();
      strictEqual(await listTokens(repository), '7 8');
    };
    await look();
    for (const path of pages) rmSync(join(repository.folder, path));
    await look();
    renameSync(bots, `${bots}.away`);
    await look();
    renameSync(`${bots}.away`, bots);
    chmodSync(bots, 0);
    await look();
    chmodSync(bots, 0o755);
    repository.git('checkout', '-q', '--', 'bots');
    // One language less is no removal, and nor is a fault.
    repository.git('rm', '-q', pages[1]);
    repository.commit({ [pages[0]]: 'no page' });
    await look();
  });

  it('does not end where another branch is checked out, or the branch is reset @slow', async () => {
    const { repository } = await begin();
    const expectAll = async (tokens: { look(): Promise<void> }): Promise<void> => {
      await tokens.look();
      strictEqual(await listTokens(repository), '7 8');
    };
    const tokens = open(repository);
    await expectAll(tokens);
    repository.git('switch', '-q', '-c', 'without');
    remove(repository);
    await expectAll(tokens);
    // Also by a service that starts there, and one that rebases.
    await expectAll(open(repository));
    repository.git('switch', '-q', '--detach', 'without');
    await expectAll(open(repository));
    repository.git('switch', '-q', 'main');
    await expectAll(open(repository));
    repository.commit({ 'other.md': '' });
    await expectAll(tokens);
    repository.git('checkout', '-q', '--orphan', 'new');
    repository.git('rm', '-q', '-r', '-f', '.');
    repository.commit({ [pagePath('8')]: mainPage({ name: 'Marge' }) });
    repository.git('branch', '-f', 'main', 'new');
    repository.git('switch', '-q', 'main');
    await expectAll(tokens);
  });

  it('does not end before the tokens of all machines are known', async () => {
    const { repository } = await begin();
    let isKnown = false;
    let questions = 0;
    const tokens = open(repository, {
      get stateFetched() {
        return ++questions > 0 && isKnown;
      },
      fetchState: async () => {},
    });
    await tokens.look();
    remove(repository);
    const looking = tokens.look();
    await eventually(() => questions > 1);
    strictEqual(await listTokens(repository), '7 8');
    isKnown = true;
    await looking;
    strictEqual(await listTokens(repository), '8');
  });

  it('ends where it is not known and cannot be fetched, unless the bot is back', async () => {
    const remote = { stateFetched: true, fetchState: async () => await Promise.reject(new Error('away')) };
    for (const isBack of [false, true]) {
      const { repository } = await begin();
      const tokens = open(repository, remote);
      await tokens.look();
      const issued = repository.git('rev-parse', stateRef);
      repository.git('update-ref', '-d', stateRef);
      remove(repository);
      if (isBack) repository.git('revert', '--no-edit', 'HEAD');
      await tokens.look();
      const opened = await openUntilEnd(repository.folder);
      await mergeState(opened, issued);
      strictEqual(await listTokens(repository), isBack ? '7 8' : '8');
    }
  });
});
