import { statSync } from 'node:fs';
import { readUserName } from '../app/config.ts';
import { formatChangedBy, toOneLine } from '../bot/commit-message.ts';
import { ensureValid, type Parsed } from '../catalogue/page/json-file.ts';
import {
  type Blocked,
  blockedName,
  type BlockedName,
  nothingBlocked,
  parseBlocked,
  printBlocked,
  readBlocked,
} from '../catalogue/settings/blocked.ts';
import { findBlockedIn } from '../check/blocked-rule.ts';
import { commitFiles } from '../git/commit/commit-files.ts';
import { writeAtomically } from '../lib/atomic-write.ts';
import { formatCount } from '../lib/counted.ts';
import { UserError } from '../lib/errors.ts';
import { withCatalogue } from './catalogue-on-disk.ts';
import { type ChangeOptions, readOnlyAdvice, removeBots } from './change-bots.ts';

export interface BlockFlags {
  readonly reason?: string;
  /** Whether its bots are removed. */
  readonly remove?: true;
  /** Whether it is blocked no more. */
  readonly ends?: boolean;
}

/**
 * Blocks an account, a bot or a host, and lists its bots. In the catalogue that is one commit, with the removal of the bots;
 * a file that the setting names is written first.
 * @throws {UserError}
 */
export async function block(kind: BlockedName['kind'], text: string, flags: BlockFlags): Promise<void> {
  const { reason, remove = false, ends = false } = flags;
  const address = `https://${text}`;
  const name = kind === 'host' && URL.canParse(address) ? new URL(address).hostname.replace(/\.$/, '') : text;
  const key = `${kind}s` as const;
  const entry = { ...(reason !== undefined && { reason }), since: new Date().toISOString().slice(0, 10) };
  const update = (parsed: Parsed<Blocked>): string => {
    const before = ensureValid(parsed);
    const { [name]: former, ...others } = before[key];
    if (ends && former === undefined) throw new UserError(`the ${kind} ${name} is not blocked`);
    const kept = { ...others, [name]: { ...entry, ...former, ...(reason !== undefined && { reason }) } };
    const after = printBlocked({ ...before, [key]: ends ? others : kept });
    ensureValid(parseBlocked(Buffer.from(after)));
    return after;
  };
  const planFile: Required<ChangeOptions>['moreFiles'] = async ({ objects, prefix }, tip) => {
    const path = prefix + blockedName;
    const blob = await objects.readOne(`${tip}:${path}`);
    const content = Buffer.from(update(parseBlocked(blob?.content)));
    return new Map([[path, { mode: '100644', content }]]);
  };
  await withCatalogue(async (opened) => {
    const { config, catalogue, repositoryOpener } = opened;
    const { blocked: file } = config;
    if (config.readOnly && (file === null || remove)) throw new UserError(readOnlyAdvice);
    const only: Blocked = { ...nothingBlocked, [key]: { [name]: entry } };
    const all = ends ? [] : [...(await catalogue.store.bots.sorted())];
    const bots = all.filter((bot) => findBlockedIn(bot, only).length > 0);
    if (file !== null) {
      const content = update(await readBlocked(config.catalogue, file));
      await writeAtomically(file, content, { fsync: 'content and name', mode: statSync(file).mode & 0o7777 });
    }
    if (remove && bots.length > 0) {
      const why = `The ${kind} ${name} is blocked${reason === undefined ? '' : `: ${reason}`}`;
      const more = file === null ? { reason: why, moreFiles: planFile } : { reason: '' };
      await removeBots(opened, bots, { ...more, isDryRun: false });
    } else if (file === null) {
      const subject = `${ends ? 'Unblock' : 'Block'} the ${kind} ${name}`;
      const message = `${subject}\n\n${formatChangedBy(readUserName())}\n`;
      const repository = await repositoryOpener.open();
      await commitFiles(repository, async (tip) => ({ files: await planFile(repository, tip), message }));
    }
    process.stdout.write(bots.map(({ id, facts }) => `${toOneLine(facts.name)} (${id})\n`).join(''));
    const left = remove ? 'removed' : 'still listed: --remove removes them, and ends their tokens';
    const about = bots.length === 0 ? '' : ` ${formatCount(bots.length, 'bot')} ${left}.`;
    process.stderr.write(`The ${kind} ${name} is ${ends ? 'no longer ' : ''}blocked.${about}\n`);
  });
}
