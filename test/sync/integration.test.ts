import { deepStrictEqual, match, rejects, strictEqual } from 'node:assert/strict';
import { isUnavailable } from '../../src/bot/errors.ts';
import type { Repository } from '../../src/git/repository.ts';
import { integrate, type IntegrationOptions, requireSameCatalogue } from '../../src/sync/integration.ts';
import { toBaseRef } from '../../src/sync/remote.ts';
import { committerOn } from '../support/committing.ts';
import { openUntilEnd } from '../support/opened.ts';
import { type RecordedLog, recordedLog } from '../support/recorded-log.ts';
import { testRepository, type TestRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';

const origin = { address: 'origin', branch: 'refs/heads/main' };
const homer = pagePath('312');
const marge = pagePath('7');
const page = mainPage({ website: null });
const refused = (message: RegExp) => (error: unknown) => isUnavailable(error) && message.test(error.message);

describe('the integration of a branch that was fetched', () => {
  let clone: TestRepository;
  let repository: Repository;
  let committer: IntegrationOptions['committer'];
  let log: RecordedLog;
  let base: string;
  beforeEach(async () => {
    clone = testRepository({ [homer]: page, [marge]: mainPage({ name: 'Marge' }), 'docs/a.md': 'one' });
    base = clone.git('rev-parse', 'HEAD');
    repository = await openUntilEnd(clone.folder);
    log = recordedLog();
    committer = committerOn(clone.folder);
    await take(base);
    log.lines.length = 0;
  });

  it('begins with what is there: only refs are set', async () => {
    const fresh = testRepository({ [homer]: page });
    const tip = fresh.commit({ [homer]: page.replace('"fun"', '"games"') });
    const opened = await openUntilEnd(fresh.folder);
    const remote = { ...origin, baseRef: toBaseRef(opened) };
    await integrate(opened, null, remote, { committer, log });
    strictEqual(fresh.git('for-each-ref', 'refs/botshelf'), '');
    await integrate(opened, tip, remote, { committer: committerOn(fresh.folder), log });
    strictEqual(fresh.git('rev-parse', toBaseRef(opened), 'HEAD'), `${tip}\n${tip}`);
    deepStrictEqual(log.lines, []);
  });

  it('fast-forwards to it, and commits nothing of its own', async () => {
    const tip = theirs({ [homer]: page.replace('"fun"', '"games"'), 'docs/a.md': 'two' });
    await take(tip);
    strictEqual(clone.git('rev-parse', 'HEAD', toBaseRef(repository)), `${tip}\n${tip}`);
    strictEqual(clone.status(), '');
    await take(tip);
    deepStrictEqual(log.lines, ["info: fast-forwarded to the remote's branch (1 commit, 2 files)"]);
  });

  it('stays where it is when it has all of it', async () => {
    const own = clone.commit({ [homer]: page.replace('"fun"', '"games"') });
    await take(base);
    strictEqual(clone.git('rev-parse', 'HEAD', toBaseRef(repository)), `${own}\n${base}`);
    await take(own);
    strictEqual(clone.git('rev-parse', 'HEAD', toBaseRef(repository)), `${own}\n${own}`);
    deepStrictEqual(log.lines, []);
  });

  it('merges it, and says what was set aside, as a warning unless a later post changed the same', async () => {
    const posted = (website: string, time: number): Record<string, string> => ({
      [homer]: mainPage({ website, edited: 1_700_000_000_000 + time }),
    });
    const own = clone.commit(
      { ...posted('https://ours.example/', 2), 'docs/a.md': 'ours' },
      'Update\n\nBot: 312',
    );
    const tip = theirs(
      { ...posted('https://theirs.example/', 1), 'docs/a.md': 'theirs' },
      'Update\n\nBot: 312',
    );
    deepStrictEqual(await take(tip), ['docs/a.md']);
    strictEqual(clone.git('log', '-1', '--format=%P'), `${tip} ${own}`);
    strictEqual(clone.git('rev-parse', toBaseRef(repository)), tip);
    match(clone.read(homer), /ours\.example/);
    strictEqual(clone.status(), '');
    deepStrictEqual(log.lines, [
      "info: merged the remote's branch (1 commit), the merge is pushed next",
      'warn: set aside "file" from this clone in "docs/a.md", as the remote has changed the same; it stays in the history',
      `info: set aside "website" from the remote in "${homer}", as a later post changed the same; it stays in the history`,
    ]);
  });

  it('replays what was not pushed yet on a branch that was rewritten, and keeps the former one', async () => {
    const own = clone.commit({ [homer]: page.replace('"fun"', '"games"') });
    const tip = rewritten({ [marge]: mainPage({ name: 'Lisa' }), [homer]: page, 'docs/a.md': 'one' });
    await take(tip);
    strictEqual(clone.git('log', '-1', '--format=%P'), tip);
    match(clone.read(homer), /"games"/);
    match(clone.read(marge), /Lisa/);
    const ref = kept();
    strictEqual(clone.git('rev-parse', ref, toBaseRef(repository)), `${own}\n${tip}`);
    const restored = ref.replace('refs/botshelf/remote/', 'refs/heads/');
    deepStrictEqual(log.lines, [
      `warn: the remote's branch was rewritten: replayed the commits that were not pushed yet; ${ref} has 2 commits and changes of 2 bots that the branch no longer has: ` +
        `"git push origin ${ref}:${restored}" and a merge of that branch bring them back, and docs/moderation.md has the command that deletes them`,
    ]);
  });

  it('takes no branch for rewritten because another one was checked out before', async () => {
    clone.git('switch', '-q', '-c', 'trial/1');
    const trial = clone.commit({ [homer]: page.replace('"fun"', '"games"') });
    const fetchedHere = toBaseRef(repository);
    await take(trial);
    clone.git('switch', '-q', 'main');
    clone.git('merge', '-q', 'trial/1');
    // The fetched commit of the other branch says nothing about this one.
    await rejects(
      integrate(repository, trial, { ...origin, baseRef: fetchedHere }, { committer, log }),
      refused(/another branch was checked out/),
    );
    await take(base);
    strictEqual(clone.git('rev-parse', 'HEAD', toBaseRef(repository)), `${trial}\n${base}`);
    deepStrictEqual(log.lines, []);
  });

  it('refuses one with which it has no commit in common, unless it has a page of its base, and changes nothing', async () => {
    const baseRef = toBaseRef(repository);
    const unlike = rewritten({ [homer]: mainPage({ name: 'Bart' }), 'docs/a.md': 'one' });
    await rejects(requireSameCatalogue(repository, unlike, { baseRef }), refused(/no commit in common/));
    await requireSameCatalogue(repository, rewritten({ [homer]: page }), { baseRef });
    clone.git('update-ref', '-d', toBaseRef(repository));
    await rejects(take(rewritten({ [homer]: page })), refused(/no commit in common/));
    strictEqual(clone.git('rev-parse', 'HEAD'), base);
    deepStrictEqual(log.lines, []);
  });

  it('follows it wherever it goes where it has nothing of its own', async () => {
    const follow = async (to: string): Promise<string[]> => await take(to, { followsOnly: true });
    const next = theirs({ [homer]: page.replace('"fun"', '"games"') });
    await follow(next);
    strictEqual(clone.git('rev-parse', 'HEAD'), next);
    const own = clone.commit({ 'docs/a.md': 'own' });
    const tip = rewritten({ [homer]: mainPage({ name: 'Bart' }) });
    await follow(tip);
    strictEqual(clone.git('rev-parse', 'HEAD', kept(), toBaseRef(repository)), `${tip}\n${own}\n${tip}`);
    strictEqual(clone.status(), '');
    deepStrictEqual(log.lines, [
      "info: fast-forwarded to the remote's branch (1 commit, 1 file)",
      `warn: the remote's branch was rewritten, or this clone had commits of its own: reset to the remote's; the former branch is at ${kept()}`,
    ]);
  });

  /** Integrates a tip, and returns the paths of the files that are not pages in which it set something aside. */
  async function take(tip: string | null, more: Partial<IntegrationOptions> = {}): Promise<string[]> {
    const remote = { ...origin, baseRef: toBaseRef(repository) };
    const dropped = await integrate(repository, tip, remote, { committer, log, ...more });
    return dropped.map(({ path }) => path);
  }

  /** The ref of the branch before the only rewrite. */
  function kept(): string {
    return clone.git('for-each-ref', '--format=%(refname)', 'refs/botshelf/remote/before-rewrite-*');
  }

  /** A commit on the first one, which this clone does not have checked out. */
  function theirs(files: Readonly<Record<string, string>>, message?: string): string {
    return clone.commitOn(base, { files, message });
  }

  /** A commit of these files without a parent. */
  function rewritten(files: Readonly<Record<string, string>>): string {
    return clone.commitOn(null, { files });
  }
});
