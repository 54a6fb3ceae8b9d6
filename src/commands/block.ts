import { statSync } from 'node:fs';
import { readUserName } from '../app/config.ts';
import { formatChangedBy, toOneLine } from '../bot/commit-message.ts';
import { ensureValid, type Parsed } from '../catalogue/page/side-file.ts';
import {
  type Blocked,
  blockedName,
  type BlockedName,
  findHost,
  nothingBlocked,
  parseBlocked,
  printBlocked,
  readBlocked,
} from '../catalogue/settings/blocked.ts';
import { findBlockedIn } from '../check/check.ts';
import { type FilesCommit, toNewFile } from '../git/commit-files.ts';
import { writeAtomically } from '../lib/files.ts';
import { formatCount } from '../lib/text.ts';
import { messageOf, UserError } from '../lib/errors.ts';
import { readOnlyAdvice } from '../sync/command-commits.ts';
import {
  commitChange,
  ensureConfirmed,
  formatConfirmation,
  removeBots,
  withCatalogue,
} from './change-bots.ts';

export interface BlockFlags {
  readonly reason?: string;
  /** Whether its bots are removed. */
  readonly remove?: true;
  /** Whether the removal is made, and not only described. */
  readonly yes?: string | true;
  /** Whether it is unblocked. */
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
  const address = text.includes('://') ? text : `https://${text}`;
  const name = (kind === 'host' && findHost(address)) || text;
  if (kind === 'host' && !ends && publicSuffix.test(name))
    throw new UserError(`${name} is a domain that anybody gets names in: name the host of the bots itself`);
  const key = `${kind}s` as const;
  const entry = { ...(reason !== undefined && { reason }), since: new Date().toISOString().slice(0, 10) };
  const update = (parsed: Parsed<Blocked>): string => {
    const before = ensureValid(parsed);
    const { [name]: former, ...others } = before[key];
    if (ends && !Object.hasOwn(before[key], name)) throw new UserError(`the ${kind} ${name} is not blocked`);
    const kept = { ...others, [name]: { ...entry, ...former, ...(reason !== undefined && { reason }) } };
    const after = printBlocked({ ...before, [key]: ends ? others : kept });
    ensureValid(parseBlocked(Buffer.from(after)));
    return after;
  };
  await withCatalogue(async (opened) => {
    const { config, catalogue, repositoryOpener, committed } = opened;
    const { blocked: file } = config;
    if (config.readOnly && (file === null || remove)) throw new UserError(readOnlyAdvice);
    const only: Blocked = { ...nothingBlocked, [key]: { [name]: entry } };
    const all = ends ? [] : [...(await catalogue.store.bots.sorted())];
    const bots = all.filter((bot) => findBlockedIn(bot, only).length > 0);
    if (kind === 'host' && bots.length > minCommonHost && bots.length > all.length / 2)
      throw new UserError(
        `${formatCount(bots.length, 'bot')} of ${all.length} have an address at ${name}: block accounts or bots instead`,
      );
    if (remove && yes) ensureConfirmed(bots.length, yes);
    const tokens = formatCount(bots.filter(({ id }) => committed.state.hasToken(id)).length, 'token');
    const why = `The ${kind} ${name} is blocked${reason === undefined ? '' : ` (${reason})`}`;
    if (file !== null) {
      const content = update(readBlocked(config.catalogue, file));
      if (!isDryRun)
        await writeAtomically(file, content, {
          fsync: 'content and name',
          mode: statSync(file).mode & 0o7777,
        });
    } else {
      const subject = `${ends ? 'Unblock' : 'Block'} the ${kind} ${name}`;
      const message = `${subject}\n\n${formatChangedBy(readUserName())}\n`;
      const { objects, prefix } = await repositoryOpener.open();
      const plan = async (tip: string | null): Promise<FilesCommit> => {
        const path = prefix + blockedName;
        const blob = await objects.readOne(`${tip}:${path}`);
        return { files: new Map([[path, toNewFile(update(parseBlocked(blob?.content)))]]), message };
      };
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

/** As many bots a host may have, even if these are most of the catalogue. */
const minCommonHost = 10;

/** Domains in which anybody gets a name: a label alone, such as `co.uk`, and those of services that host sites and bots. */
const publicSuffix =
  /^(?:[\w-]+|(?:ac|co|com|edu|go|gob|gov|ne|net|or|org)\.[a-z]{2}|(?:github|gitlab|codeberg)\.(?:io|page)|(?:pages|workers|fly|deno)\.dev|(?:vercel|netlify|web|replit|railway)\.app|(?:herokuapp|firebaseapp|onrender|blogspot)\.com|glitch\.me|repl\.co)$/;
