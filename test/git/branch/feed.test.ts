import { deepStrictEqual, match, rejects, strictEqual } from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import type { BranchConsumer, BranchFeed } from '../../../src/git/branch/feed.ts';
import type { Log } from '../../../src/lib/log.ts';
import { branchFeedOf } from '../../support/branch.ts';
import { eventually } from '../../support/eventually.ts';
import { recordedLog } from '../../support/recorded-log.ts';
import { type TestRepository, testRepository } from '../../support/repository.ts';
import { tempFolder } from '../../support/temp-folder.ts';

describe('the feed of the branch', () => {
  let repository: TestRepository;
  let file: string;
  beforeEach(() => {
    repository = testRepository({ 'a.txt': '1\n' });
    file = join(tempFolder(), 'branch');
  });

  const open = (log?: Log): BranchFeed => branchFeedOf(repository.folder, log, file);
  /** A consumer that notes where it was at each call and the steps, and fails while `failure` is set. */
  const addTo = (feed: BranchFeed): BranchConsumer & { calls: unknown[]; failure?: Error } => {
    const consumer: ReturnType<typeof addTo> = {
      calls: [],
      failed: (message) => `failed: ${message}`,
      ended: 'ended',
      handle: async ({ from, steps }) => {
        if (consumer.failure) throw consumer.failure;
        consumer.calls.push([from, ...steps.map((step) => `${step.from} ${step.to}`)]);
      },
    };
    feed.add(consumer);
    return consumer;
  };
  const head = (): string => repository.git('rev-parse', 'HEAD');

  it('has the commits along first parents, each with its parent, also of a line that merged the own one', async () => {
    const feed = open();
    const consumer = addTo(feed);
    const first = head();
    await feed.look(consumer);
    const [second, third] = [repository.commit({ b: '1' }), repository.commit({ b: '2' })];
    await feed.look(consumer);
    await feed.look(consumer);
    repository.git('switch', '-q', '-c', 'theirs', first);
    const theirs = repository.commit({ c: '1' });
    repository.git('merge', '-q', '--no-ff', '-m', 'Merge', third);
    repository.git('switch', '-q', '-C', 'main', 'theirs');
    await feed.look(consumer);
    deepStrictEqual(consumer.calls, [
      [undefined],
      [first, `${first} ${second}`, `${second} ${third}`],
      [third, `${first} ${theirs}`, `${theirs} ${head()}`],
    ]);
  });

  it('goes on after a restart from what all consumers have handled, whichever fails', async () => {
    const first = head();
    const feed = open();
    const [good, bad] = [addTo(feed), addTo(feed)];
    for (const consumer of [good, bad]) await feed.look(consumer);
    bad.failure = new Error('no space');
    const second = repository.commit({ b: '1' });
    await feed.look(good);
    await rejects(feed.look(bad), bad.failure);
    deepStrictEqual([good.calls.length, bad.calls.length], [2, 1]);
    for (const expected of [[first, `${first} ${second}`], [second]]) {
      const restarted = open();
      const again = addTo(restarted);
      await restarted.look(again);
      deepStrictEqual(again.calls, [expected]);
    }
  });

  it('has no steps where the branch was rewritten, or is another one than before the restart', async () => {
    const second = repository.commit({ b: '1' });
    const feed = open();
    const consumer = addTo(feed);
    await feed.look(consumer);
    repository.git('reset', '-q', '--hard', 'HEAD~1');
    await feed.look(consumer);
    const first = head();
    repository.git('switch', '-q', '-c', 'other');
    const other = repository.commit({ b: '2' });
    await feed.look(consumer);
    const restarted = open();
    const again = addTo(restarted);
    await restarted.look(again);
    repository.git('switch', '-q', 'main');
    repository.git('merge', '-q', 'other');
    await feed.look(consumer);
    deepStrictEqual(
      [consumer.calls, again.calls],
      [[[undefined], [second], [first, `${first} ${other}`]], [[first]]],
    );
  });

  it('calls a consumer when it is told to, and logs its failures', async () => {
    const log = recordedLog();
    const feed = open(log);
    const enough = new AbortController();
    const consumer = addTo(feed);
    consumer.failure = new Error('no space');
    consumer.handle = async () => {
      consumer.calls.push('');
      if (consumer.calls.length === 50) enough.abort();
      // Once it waits.
      else setImmediate(() => feed.lookNow(consumer));
      throw consumer.failure;
    };
    feed.start(consumer);
    await once(enough.signal, 'abort');
    await feed.close();
    deepStrictEqual([consumer.calls.length, log.lines], [50, ['error: failed: no space']]);
  });

  it('publishes a commit to every listener in order, also behind one that fails, which is logged', () => {
    const log = recordedLog();
    const feed = open(log);
    const seen: string[] = [];
    feed.onPublished(({ commit }) => seen.push(`first ${commit}`));
    feed.onPublished(() => {
      throw new Error('no');
    });
    feed.onPublished(({ commit }) => seen.push(`last ${commit}`));
    feed.publish({ ref: 'state', commit: 'a' });
    deepStrictEqual([seen, log.lines], [['first a', 'last a'], ['error: a listener to commits failed']]);
  });

  it('has the fault that another branch is checked out, in the log too, with a command that keeps its commits', async () => {
    const { git, commit, tryGit } = repository;
    const log = recordedLog();
    const feed = open(log);
    const consumer = addTo(feed);
    await feed.look(consumer);
    strictEqual(feed.fault(), null);
    git('switch', '-q', '-c', 'trial');
    const fault = feed.fault() ?? '';
    match(fault, /^the clone is on the branch trial, and the service began on main: /);
    feed.start(consumer);
    await eventually(() => strictEqual(log.lines[0], `error: ${fault}`));

    commit({ 'b.txt': 'posted there\n' });
    for (const command of (/run "(.+)"/.exec(fault)?.[1] ?? '').split(' && '))
      strictEqual(tryGit(...command.split(' ').slice(1)), 0, command);
    strictEqual(feed.fault(), null);
    strictEqual(git('show', 'main:b.txt'), 'posted there');
    // HEAD on no branch is a fault of its own.
    git('switch', '-q', '--detach');
    strictEqual(feed.fault(), null);
  });
});
