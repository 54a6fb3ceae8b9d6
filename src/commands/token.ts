import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandConfig, readCommandConfig, readUserName } from '../app/config.ts';
import { type BotId, parseBotId } from '../bot/id.ts';
import { botsFolder, listPages } from '../catalogue/page/layout.ts';
import { readPageFile } from '../catalogue/page/page-file.ts';
import { noLimits } from '../catalogue/page/rules.ts';
import { ensureValid } from '../catalogue/page/side-file.ts';
import { describeBlocked, findBlocked, readBlocked } from '../catalogue/settings/blocked.ts';
import { readBot } from '../catalogue/store/bot-index.ts';
import { findBlockedIn } from '../check/check.ts';
import { CommittedState, createStateRef } from '../counts/state-ref.ts';
import { RepositoryOpener } from '../git/repository.ts';
import { UserError } from '../lib/errors.ts';
import { createLog } from '../lib/log.ts';
import { openRemoteState } from '../sync/remote.ts';
import { changeToken, issueToken, revokeTokens, type TokenChanger } from '../tokens/tokens.ts';

/**
 * Issues or revokes tokens in the state ref, which a running service follows: the change takes effect there
 * immediately, and on other machines when the remote has it. Prints a single new token alone, and several each after
 * its bot.
 */
export async function token(texts: string[], { revoke = false }: { revoke?: boolean }): Promise<void> {
  const config = readCommandConfig();
  if (config.readOnly) throw new UserError('a read-only copy has no tokens: run this where the original is');
  const ids = [...new Set(texts)].map((text) => {
    const id = parseBotId(text);
    if (id === undefined) throw new UserError(`${JSON.stringify(text)} is not a bot id: pass 1 to 20 digits`);
    return id;
  });
  if (!revoke) for (const id of ids) await ensureMayHaveToken(config, id);
  const repositoryOpener = new RepositoryOpener(config.catalogue);
  try {
    await changeTokens({ config, repositoryOpener }, async (committed, by) => {
      if (!revoke) {
        for (const id of ids) {
          const issued = await issueToken(committed, id, by);
          process.stdout.write(`${ids.length > 1 ? `${id} ` : ''}${issued}\n`);
        }
        return undefined;
      }
      const ended = await revokeTokens(committed, ids, by);
      for (const id of ids)
        process.stderr.write(
          ended.includes(id) ? `The token of ${id} has ended.\n` : `${id} had no token.\n`,
        );
      return ended;
    });
  } finally {
    repositoryOpener.close();
  }
}

/**
 * Changes tokens in the state ref, and in that of the remote. If the remote cannot be reached, prints the consequence.
 * @param change receives the state and the changer; it returns the bots whose tokens it ends, or undefined if it issues
 * tokens
 * @throws what `changeToken` does
 */
export async function changeTokens(
  { config, repositoryOpener }: { config: CommandConfig; repositoryOpener: RepositoryOpener },
  change: (committed: CommittedState, by: TokenChanger) => Promise<readonly BotId[] | undefined>,
): Promise<void> {
  const end = new AbortController();
  try {
    const address = config.remote;
    const remote = await openRemoteState(repositoryOpener, address, end.signal);
    const name = `user ${readUserName()}`;
    const log = await createLog(config.log);
    const committed = new CommittedState(createStateRef(repositoryOpener, log), log);
    const changed = await changeToken(remote, log, name, async (by) => await change(committed, by));
    const { result, fetched, shared } = changed;
    const why = address === null ? 'BOTSHELF_REMOTE is not set' : 'The remote cannot be reached';
    const others = fetched || result === undefined ? '' : ', and tokens that they issued meanwhile end';
    if (!shared)
      process.stderr.write(`${why}: other machines follow when the service has pushed this${others}.\n`);
  } finally {
    end.abort();
  }
}

/** @throws {UserError} when there is no such bot, or it is blocked */
async function ensureMayHaveToken({ catalogue, blocked }: CommandConfig, id: BotId): Promise<void> {
  const places = existsSync(join(catalogue, botsFolder)) ? listPages(catalogue, id) : [];
  if (places.length === 0)
    throw new UserError(
      `there is no bot ${id} in ${catalogue}: add its page first, or set BOTSHELF_CATALOGUE`,
    );
  const all = ensureValid(readBlocked(catalogue, blocked));
  const pages = places.flatMap((place) => readPageFile(catalogue, place) ?? []);
  const { bot } = readBot(id, pages, undefined, noLimits);
  const found = bot ? findBlockedIn(bot, all) : findBlocked(all, { bots: [id] });
  const name = found.find(({ kind }) => kind === 'bot');
  if (name) throw new UserError(describeBlocked(name, true));
}
