import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { createToken, type Token } from '../../src/bot/token.ts';
import { silentLog } from '../../src/lib/log.ts';
import { CommittedState } from '../../src/counts/committed-state.ts';
import type { StateStore } from '../../src/counts/state-store.ts';
import type { SharedTokens } from '../../src/tokens/shared-tokens.ts';
import { issueToken, revokeToken, revokeTokens } from '../../src/tokens/token-changes.ts';
import { atTime } from '../support/at-time.ts';
import { botId } from '../support/sample.ts';
import { FileRef } from '../support/file-ref.ts';
import { BrokenRef, localTokens, newPlace, open, type Place } from '../support/place.ts';

const homer = botId('190519304972663312');
const marge = botId('190519304972663313');

describe('a token', () => {
  it('is valid for its bot alone, and distinguished from one of no bot', async () => {
    const { tokens, token } = await withToken();
    strictEqual(await tokens.checkToken(homer, token), 'valid');
    strictEqual(await tokens.checkToken(marge, token), 'other bot');
    strictEqual(await tokens.checkToken(homer, createToken()), 'unknown');
    await tokens.issueToken(marge, 'user marge');
    strictEqual(await tokens.checkToken(marge, token), 'other bot');
  });

  it('ends at once when there is a new one, or none', async () => {
    const { tokens, token: first } = await withToken();
    const { result: second } = await tokens.issueToken(homer, 'user marge');
    strictEqual(await tokens.checkToken(homer, first), 'unknown');
    strictEqual(await tokens.checkToken(homer, second), 'valid');
    strictEqual((await tokens.revokeToken(homer, 'user marge')).result, true);
    strictEqual(await tokens.checkToken(homer, second), 'unknown');
    strictEqual((await tokens.revokeToken(homer, 'user marge')).result, false);
  });

  it('is in the state ref before it is given, as a digest', async () => {
    const { place, tokens, token } = await withToken();
    const [commit] = place.ref.history();
    strictEqual(commit?.subject, `Issue a token to ${homer}, by user marge`);
    ok(!JSON.stringify(commit.files).includes(token));
    strictEqual(await localTokens(await open(place)).checkToken(homer, token), 'valid');
    await tokens.revokeToken(homer, 'user marge');
    strictEqual(place.ref.history().at(-1)?.subject, `Revoke the token of ${homer}, by user marge`);
    strictEqual(await localTokens(await open(place)).checkToken(homer, token), 'unknown');
  });

  it('of each of several bots is revoked in one commit, whose subject is one line', async () => {
    const { place, tokens } = await withToken();
    await tokens.issueToken(marge, 'user marge\nSigned-off-by: Homer');
    strictEqual(
      place.ref.history().at(-1)?.subject,
      `Issue a token to ${marge}, by user marge Signed-off-by: Homer`,
    );
    const ids = [homer, botId('7'), marge];
    deepStrictEqual(await revokeTokens(otherProcess(place), ids, 'user marge'), [homer, marge]);
    strictEqual(place.ref.history().at(-1)?.subject, 'Revoke the tokens of 3 bots, by user marge');
  });

  it('that another process revokes or issues counts here as soon as that process is done', async () => {
    const { place, tokens, token: first } = await withToken();
    strictEqual(await tokens.checkToken(homer, first), 'valid');

    await revokeToken(otherProcess(place), homer, 'user marge');
    await setTimeout(6);
    strictEqual(await tokens.checkToken(homer, first), 'unknown');

    const second = await issueToken(otherProcess(place), homer, 'user marge');
    await setTimeout(6);
    strictEqual(await tokens.checkToken(homer, second), 'valid');
  });

  it('that was revoked elsewhere stays so when earlier counts are checkpointed', async () => {
    const { place, store, token } = await withToken();
    await store.setCount(homer, 5);
    await revokeToken(otherProcess(place), homer, 'user marge');
    await store.checkpoint();
    strictEqual(await localTokens(await open(place)).checkToken(homer, token), 'unknown');
    strictEqual((await open(place)).count(homer), 5);
  });

  it('is checked without reading the ref again after a commit of our own', async () => {
    const { place, store, tokens, token } = await withToken();
    await store.setCount(homer, 5);
    await store.checkpoint();
    await setTimeout(6);
    strictEqual(await tokens.checkToken(homer, token), 'valid');
    strictEqual(place.ref.reads, 1);
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
    await issueToken(otherProcess(place), homer, 'user marge');
    await setTimeout(6);
    strictEqual((await restarted.tokenInfo(homer)).lastUsed, undefined);
  });

  it('that has ended has no info, and nor has one that never was', async () => {
    const { tokens } = await withToken();
    await tokens.revokeToken(homer, 'user marge');
    for (const id of [homer, marge])
      deepStrictEqual(await tokens.tokenInfo(id), { issuedAt: undefined, lastUsed: undefined });
  });

  it('that cannot be committed is not given, and the one before goes on', async () => {
    const place = newPlace();
    const ref = new BrokenRef(place.refPath);
    ref.broken = false;
    const { tokens, token } = await withToken(place, ref);
    ref.broken = true;
    await rejects(tokens.issueToken(homer, 'user marge'), {
      name: 'WritesUnavailableError',
      message: /git is not there/,
    });
    await rejects(tokens.revokeToken(homer, 'user marge'), { name: 'WritesUnavailableError' });
    strictEqual(await tokens.checkToken(homer, token), 'valid');
  });

  it('cannot be checked while the ref moved and cannot be read', async () => {
    const place = newPlace();
    const ref = new BrokenRef(place.refPath);
    ref.broken = false;
    const { tokens, token } = await withToken(place, ref);
    await tokens.checkToken(homer, token);
    await revokeToken(otherProcess(place), homer, 'user marge');
    ref.broken = true;
    await setTimeout(6);
    await rejects(tokens.checkToken(homer, token), { name: 'WritesUnavailableError' });
    ref.broken = false;
    strictEqual(await tokens.checkToken(homer, token), 'unknown');
  });
});

/** A store in which the bot has a token. */
async function withToken(
  place = newPlace(),
  ref: FileRef = place.ref,
): Promise<{ place: Place; store: StateStore; tokens: SharedTokens; token: Token }> {
  const store = await open(place, { ref });
  const tokens = localTokens(store);
  const { result: token } = await tokens.issueToken(homer, 'user marge');
  return { place, store, tokens, token };
}

function otherProcess({ refPath }: Place): CommittedState {
  return new CommittedState(new FileRef(refPath), silentLog);
}
