import { createToken, computeDigest } from '../../src/bot/token.ts';
import { createStateRef, CommittedState } from '../../src/counts/state-ref.ts';
import { silentLog } from '../../src/lib/log.ts';
import { State, toShardNumber, toShardPath, writeShard } from '../../src/counts/state.ts';
import { issueToken, type TokenChanger } from '../../src/tokens/tokens.ts';
import { openerOf } from './opened.ts';
import { botId } from './sample.ts';

/** Issues a token to a bot in the state ref of `folder`, as `botshelf token` does next to a running service. */
export async function issueTestToken(folder: string, id: string): Promise<string> {
  const repositoryOpener = openerOf(folder);
  return await issueToken(
    new CommittedState(createStateRef(repositoryOpener, silentLog), silentLog),
    botId(id),
    byTests,
  );
}

const byTests: TokenChanger = { name: 'the tests', known: 'all' };

/** Issues a token to each of many bots, in one commit of the state ref of `folder`. */
export async function issueTestTokens(folder: string, ids: readonly string[]): Promise<Map<string, string>> {
  const tokens = new Map(ids.map((id) => [id, createToken()]));
  const state = new State();
  for (const [id, token] of tokens)
    state.merge(botId(id), { token: { digest: computeDigest(token), at: Date.now(), generation: 1 } });
  const numbers = new Set(ids.map((id) => toShardNumber(botId(id))));
  const files = [...numbers].map((number) => {
    const text = writeShard(state.listBots(number), (id) => state.get(id));
    return [toShardPath(number), text] as const;
  });
  const repositoryOpener = openerOf(folder);
  await createStateRef(repositoryOpener, silentLog).commit(
    null,
    new Map(files),
    `Issue ${ids.length} tokens`,
  );
  return tokens;
}

/** The request with which an owner updates these keys of a bot. */
export function updateRequest(token: string, bot: object): RequestInit {
  return {
    method: 'POST',
    headers: { authorization: token, 'content-type': 'application/json' },
    body: JSON.stringify({ bot }),
  };
}
