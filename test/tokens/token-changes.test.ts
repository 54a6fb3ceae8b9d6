import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { isUnavailable } from '../../src/bot/errors.ts';
import { computeDigest, createToken, type Token } from '../../src/bot/token.ts';
import { silentLog } from '../../src/lib/log.ts';
import { CommittedState } from '../../src/counts/state-ref.ts';
import { createBotState } from '../../src/counts/state.ts';
import type { StateStore } from '../../src/counts/state-store.ts';
import {
  type RemoteState,
  type TokenChanger,
  Tokens,
  issueToken,
  revokeTokens,
} from '../../src/tokens/tokens.ts';
import { atTime } from '../support/at-time.ts';
import { botId } from '../support/sample.ts';
import { localTokens, MemoryRef, newPlace, noGit, open, type Place } from '../support/place.ts';
import { recordedLog } from '../support/recorded-log.ts';

const homer = botId('190519304972663312');
const marge = botId('190519304972663313');
const byMarge: TokenChanger = { name: 'user marge', known: 'all' };

describe('a token', () => {
  it('of the last generation can be revoked, also for those that read the ref later, and not replaced', async () => {
    const place = newPlace();
    const token = createToken();
    const last = { digest: computeDigest(token), at: 1, generation: 999_999_999_999_999 };
    const committed = otherProcess(place);
    await committed.commit(() => new Map([[homer, { token: last }]]), 'Spoil it');
    await rejects(issueToken(committed, homer, byMarge), { code: 'unavailable' });
    deepStrictEqual(await revokeTokens(committed, [homer], byMarge), [homer]);
    strictEqual(await localTokens(await open(place)).checkToken(homer, token), 'unknown');
    const read = otherProcess(place);
    await read.follow();
    deepStrictEqual(read.state.token(homer)?.digest, null);
  });

  it('is in the state ref before it is given, as a digest', async () => {
    const { place, tokens, token } = await withToken();
    const [commit] = place.ref.history;
    strictEqual(commit?.subject, `Issue a token to ${homer}, by user marge`);
    ok(!JSON.stringify(commit.files).includes(token));
    strictEqual(await localTokens(await open(place)).checkToken(homer, token), 'valid');
    await tokens.revokeToken(homer, 'user marge');
    strictEqual(place.ref.history.at(-1)?.subject, `Revoke the token of ${homer}, by user marge`);
    strictEqual(await localTokens(await open(place)).checkToken(homer, token), 'unknown');
  });

  it('of each of several bots is revoked in one commit, whose subject is one line', async () => {
    const { place, tokens } = await withToken();
    await tokens.issueToken(marge, 'user marge\nSigned-off-by: Homer');
    const subject = (): string | undefined => place.ref.history.at(-1)?.subject;
    strictEqual(subject(), `Issue a token to ${marge}, by user marge Signed-off-by: Homer`);
    const ids = [homer, botId('7'), marge];
    deepStrictEqual(await revokeTokens(otherProcess(place), ids, byMarge), [homer, marge]);
    strictEqual(subject(), `Revoke the tokens of ${homer}, ${marge}, by user marge`);
  });

  it('that was revoked elsewhere stays so when earlier counts are checkpointed', async () => {
    const { place, store, token } = await withToken();
    await store.setCount(homer, 5);
    await revokeTokens(otherProcess(place), [homer], byMarge);
    await store.checkpoint();
    strictEqual(await localTokens(await open(place)).checkToken(homer, token), 'unknown');
    strictEqual((await open(place)).count(homer), 5);
  });

  it('is checked without reading the ref again after a commit of our own', async () => {
    const { place, store, tokens, token } = await withToken();
    await store.setCount(homer, 5);
    await store.checkpoint();
    const { reads } = place.ref;
    await setTimeout(6);
    strictEqual(await tokens.checkToken(homer, token), 'valid');
    strictEqual(place.ref.reads, reads);
  });

  it('remembers when it was issued, and when it was last shown', async () => {
    const store = await open(newPlace());
    const tokens = localTokens(store);
    const lastUsed = async (): Promise<number | undefined> => (await tokens.tokenInfo(homer)).lastUsed;
    const { result: token } = await tokens.issueToken(homer, 'user marge');
    ok(((await tokens.tokenInfo(homer)).issuedAt ?? 0) > 1_700_000_000_000);
    strictEqual(await lastUsed(), undefined);
    await tokens.checkToken(marge, token);
    strictEqual(await lastUsed(), undefined);
    await tokens.checkToken(homer, token);
    ok(((await lastUsed()) ?? 0) > 1_700_000_000_000);
    await tokens.issueToken(homer, 'user marge');
    strictEqual(await lastUsed(), undefined);
    const used = await atTime(1_900_000_000_000, async () => {
      const { result } = await tokens.issueToken(homer, 'user marge');
      await tokens.checkToken(homer, result);
      return await lastUsed();
    });
    strictEqual(used, 1_900_000_000_000, 'in the millisecond in which it was issued');
    await tokens.revokeToken(homer, 'user marge');
    for (const id of [homer, marge])
      deepStrictEqual(await tokens.tokenInfo(id), { issuedAt: undefined, lastUsed: undefined });
  });

  it('was last used when it set the count, as far as a restarted service can know', async () => {
    const { place, store, tokens, token } = await withToken();
    await tokens.checkToken(homer, token);
    await store.setCount(homer, 5);
    await store.checkpoint();
    const restarted = localTokens(await open(place));
    const { issuedAt = 0, lastUsed = 0 } = await restarted.tokenInfo(homer);
    ok(lastUsed >= issuedAt && issuedAt > 0);
    await setTimeout(2);
    await issueToken(otherProcess(place), homer, byMarge);
    await setTimeout(6);
    strictEqual((await restarted.tokenInfo(homer)).lastUsed, undefined);
  });

  it('that cannot be committed is not given, and the one before goes on', async () => {
    const { place, tokens, token } = await withToken();
    place.ref.failure = noGit;
    const refusal = { code: 'write-failed', message: /git is not there/ };
    await rejects(tokens.issueToken(homer, 'user marge'), refusal);
    await rejects(tokens.revokeToken(homer, 'user marge'), isUnavailable);
    strictEqual(await tokens.checkToken(homer, token), 'valid');
  });

  it('cannot be checked while the ref moved and cannot be read', async () => {
    const { place, tokens, token } = await withToken();
    await tokens.checkToken(homer, token);
    await revokeTokens(otherProcess(place), [homer], byMarge);
    place.ref.failure = noGit;
    await setTimeout(6);
    await rejects(tokens.checkToken(homer, token), isUnavailable);
    place.ref.failure = undefined;
    strictEqual(await tokens.checkToken(homer, token), 'unknown');
  });
});

describe('a token that is not known here', () => {
  it('is looked up with one fetch for all that wait, and no second one right after @slow', async () => {
    const store = await open(newPlace());
    let fetches = 0;
    const remote = remoteWith(async () => {
      fetches++;
      await setTimeout(50);
    });
    const tokens = new Tokens(store, remote, silentLog, 2000);
    const ask = async (): Promise<string[]> =>
      await Promise.all(
        Array.from({ length: 20 }, async () => await tokens.checkToken(homer, createToken())),
      );
    deepStrictEqual(new Set(await ask()), new Set(['unknown']));
    strictEqual(fetches, 1);
    const timers = countTimers();
    const later = ask();
    await setTimeout(300);
    strictEqual(fetches, 1);
    strictEqual(countTimers(), timers, 'no process waits for the next fetch');
    const { result: token } = await localTokens(store).issueToken(homer, 'user marge');
    strictEqual(await tokens.checkToken(homer, token), 'valid');
    deepStrictEqual(new Set(await later), new Set(['unknown']));
    strictEqual(fetches, 2);
    strictEqual(await tokens.checkToken(botId('313'), token), 'other bot');
    strictEqual(fetches, 2);
  });

  it('is valid where the fetch that failed brought it, and otherwise unchecked', async () => {
    const store = await open(newPlace());
    const brought = createToken();
    const failing = async (): Promise<void> => {
      const token = { digest: computeDigest(brought), at: Date.now(), generation: 1 };
      await store.write(
        async (committed) => await committed.commit(() => new Map([[homer, { token }]]), 'Merge'),
      );
      throw new Error('away');
    };
    const tokens = new Tokens(store, remoteWith(failing), silentLog, 0);
    const unknown = createToken();
    strictEqual(await tokens.checkToken(homer, unknown), 'unchecked');
    strictEqual(await tokens.findHolder(unknown, ''), 'unchecked');
    strictEqual(await tokens.checkToken(homer, brought), 'valid');
  });

  it('is unchecked while a thousand are being looked up, and refused while a hundred of its client or 250 of its network are', async () => {
    let fetched = (): void => {};
    const fetching = new Promise<void>((resolve) => (fetched = resolve));
    const remote = remoteWith(() => fetching);
    const tokens = new Tokens(await open(newPlace()), remote, silentLog, 0);
    const check = async (address: string): Promise<string> =>
      await tokens.checkToken(homer, createToken(), address);
    const checks = Array.from({ length: 100 }, async () => await check('192.0.2.1'));
    await rejects(check('192.0.2.1'), { code: 'share-full' });
    checks.push(...Array.from({ length: 250 }, async (_, i) => await check(`2001:db8:1:${i}::1`)));
    await rejects(check('2001:db8:1:fff::1'), { code: 'share-full' });
    checks.push(...Array.from({ length: 650 }, async (_, i) => await check(`198.51.100.${i % 9}`)));
    strictEqual(await check('203.0.113.1'), 'unchecked');
    fetched();
    deepStrictEqual(new Set(await Promise.all(checks)), new Set(['unknown']));
    strictEqual(await tokens.checkToken(homer, createToken()), 'unknown');
  });
});

describe('a change of a token', () => {
  it('is shared where the remote was fetched before and pushed to after, and said where it is not', async () => {
    const store = await open(newPlace());
    const work = async (
      what: Partial<RemoteState>,
    ): Promise<[steps: string, shared: boolean, lines: number]> => {
      const steps: string[] = [];
      const log = recordedLog();
      const remote = {
        stateFetched: true,
        fetchState: async () => void steps.push('fetch'),
        pushState: async () => void steps.push(`push ${store.tokens.token(homer)?.generation}`),
        ...what,
      };
      const { shared } = await new Tokens(store, remote, log).issueToken(homer, 'user marge');
      const warnings = log.lines.filter((line) => line.startsWith('warn: '));
      return [steps.join(', '), shared, warnings.length];
    };
    const away = async (): Promise<void> => await Promise.reject(new Error('away'));
    deepStrictEqual(await work({}), ['fetch, push 1', true, 0]);
    deepStrictEqual(await work({ pushState: away }), ['fetch', false, 1]);
    deepStrictEqual(await work({ fetchState: away }), ['', false, 1]);
    strictEqual((await localTokens(store).issueToken(homer, 'user marge')).shared, true);
  });

  it('is logged with the bot and who made it, and not with the token', async () => {
    const log = recordedLog();
    const tokens = new Tokens(await open(newPlace()), null, log);
    await tokens.revokeToken(homer, 'account 7');
    await tokens.issueToken(homer, 'account 7');
    await tokens.revokeToken(homer, 'account 8');
    deepStrictEqual(log.lines, [
      `info: issued a token to ${homer}, by account 7`,
      `info: revoked the token of ${homer}, by account 8`,
    ]);
  });

  it('and a check do not wait for a remote that never responds @long', async () => {
    const remote = remoteWith(async () => await new Promise(() => {}));
    const tokens = new Tokens(await open(newPlace()), remote, silentLog);
    const timers = countTimers();
    const checking = tokens.checkToken(homer, createToken());
    const ended = Promise.all([checking, tokens.issueToken(homer, 'user marge')]);
    await setTimeout(100);
    strictEqual(countTimers(), timers, 'no process waits for the time limit');
    const [check, { shared }] = await ended;
    strictEqual(check, 'unchecked');
    strictEqual(shared, false);
  });
});

describe('a token, while the remote is away,', () => {
  const away = remoteWith(async () => await Promise.reject(new Error('away')));
  const tokensOf = (store: StateStore, stateFetched: boolean): Tokens =>
    new Tokens(store, { ...away, stateFetched }, silentLog);

  it('is not issued or shown as missing in a clone that never had the tokens of all bots', async () => {
    const tokens = tokensOf(await open(newPlace()), false);
    await rejects(tokens.issueToken(homer, 'user marge'), isUnavailable);
    await rejects(tokens.tokenInfo(homer), isUnavailable);
  });

  it('ends wherever it was issued, also where it is not known, and the next one counts', async () => {
    for (const stateFetched of [true, false]) {
      const [here, elsewhere] = [await open(newPlace()), await open(newPlace())];
      const merge = async (from: StateStore, to: StateStore): Promise<void> => {
        const change = new Map([[homer, createBotState(undefined, from.tokens.token(homer))]]);
        await to.write(async (committed) => await committed.commit(() => change, 'Merge'));
      };
      const there = localTokens(elsewhere);
      await there.issueToken(homer, 'user marge');
      const { result: token } = await there.issueToken(homer, 'user marge');
      strictEqual((await tokensOf(here, stateFetched).revokeToken(homer, 'user homer')).result, true);
      await merge(here, elsewhere);
      strictEqual(await there.checkToken(homer, token), 'unknown', String(stateFetched));
      const { result: next } = await there.issueToken(homer, 'user marge');
      await merge(elsewhere, here);
      strictEqual(await localTokens(here).checkToken(homer, next), 'valid');
    }
  });
});

/** A remote whose state was fetched, and can be pushed. */
function remoteWith(fetchState: () => Promise<void>): RemoteState {
  return { stateFetched: true, fetchState, pushState: async () => {} };
}

/** How many timers keep this process from ending. */
function countTimers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

/** A store in which the bot has a token. */
async function withToken(): Promise<{ place: Place; store: StateStore; tokens: Tokens; token: Token }> {
  const place = newPlace();
  const store = await open(place);
  const tokens = localTokens(store);
  const { result: token } = await tokens.issueToken(homer, 'user marge');
  return { place, store, tokens, token };
}

function otherProcess({ ref }: Place): CommittedState {
  return new CommittedState(new MemoryRef(ref.history), silentLog);
}
