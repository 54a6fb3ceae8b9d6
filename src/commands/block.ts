import { statSync } from 'node:fs';
import { readUserName } from '../app/config.ts';
import { toOneLine } from '../bot/commit-message.ts';
import {
  type BlockedName,
  changeBlocked,
  planBlockedCommit,
  readBlocked,
  toBlockedChange,
} from '../catalogue/settings/blocked.ts';
import { listBotsToBlock } from '../check/check.ts';
import type { FilesCommit } from '../git/commit-files.ts';
import { writeAtomically } from '../lib/files.ts';
import { formatCount } from '../lib/text.ts';
import { messageOf, UserError } from '../lib/errors.ts';
import { readOnlyAdvice } from '../sync/command-commits.ts';
import { commitChange, ensureConfirmed, formatConfirmation, removeBots } from './change-bots.ts';
import { withCatalogue } from './catalogue-on-disk.ts';

export interface BlockFlags {
  readonly reason?: string;
  /** Whether its bots are removed. */
  readonly remove?: true;
  /** Whether the removal is made; otherwise it is only described. */
  readonly yes?: string | true;
  /** Whether to unblock instead. */
  readonly ends?: boolean;
}

/**
 * Blocks an account, a bot or a host, which may be named by an address, and lists its bots. Their removal is a commit of
 * its own, so that each can be reverted alone.
 * @throws {UserError}
 */
export async function block(kind: BlockedName['kind'], text: string, flags: BlockFlags): Promise<void> {
  const { reason, remove = false, ends = false, yes } = flags;
  const isDryRun = remove && !yes;
  const change = toBlockedChange(kind, text, { reason, ends });
  const { name } = change;
  await withCatalogue(async (opened) => {
    const { config, catalogue, repositoryOpener, committed } = opened;
    const { blocked: file } = config;
    if (config.readOnly && (file === null || remove)) throw new UserError(readOnlyAdvice);
    const bots = ends ? [] : await listBotsToBlock(catalogue.store.bots, change);
    if (remove && yes) ensureConfirmed(bots.length, yes);
    const tokens = formatCount(bots.filter(({ id }) => committed.state.hasToken(id)).length, 'token');
    const why = `The ${kind} ${name} is blocked${reason === undefined ? '' : ` (${reason})`}`;
    if (file !== null) {
      const content = changeBlocked(readBlocked(config.catalogue, file), change);
      if (!isDryRun)
        await writeAtomically(file, content, {
          fsync: 'content and name',
          mode: statSync(file).mode & 0o7777,
        });
    } else {
      const repository = await repositoryOpener.open();
      const plan = async (tip: string | null): Promise<FilesCommit> =>
        await planBlockedCommit(repository, tip, change, readUserName());
      if (isDryRun) await plan('HEAD');
      else if ((await commitChange(opened, plan)).length > 0) return;
    }
    if (remove && bots.length > 0 && !isDryRun)
      await removeBots(opened, bots, { reason: file === null ? why : '', confirm() {} }).catch(
        (error: unknown) => {
          throw new UserError(
            `The ${kind} ${name} is blocked, but not all is done about its bots: ${messageOf(error)}`,
          );
        },
      );
    process.stdout.write(bots.map(({ id, facts }) => `${toOneLine(facts.name)} (${id})\n`).join(''));
    const listed = formatCount(bots.length, 'bot');
    if (isDryRun) {
      const removal = `${listed} would be removed, and ${tokens} would end`;
      return void process.stderr.write(
        `The ${kind} ${name} would be blocked. ${removal}: ${formatConfirmation(bots.length)}.\n`,
      );
    }
    const left = remove
      ? `removed, ${tokens} ended`
      : 'still listed: --remove removes them, and ends their tokens';
    const about = bots.length === 0 ? '' : ` ${listed} ${left}.`;
    process.stderr.write(`The ${kind} ${name} is ${ends ? 'no longer ' : ''}blocked.${about}\n`);
  });
}
