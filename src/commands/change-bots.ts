import { isDeepStrictEqual } from 'node:util';
import { readUserName } from '../app/config.ts';
import { type EditedBot, formatChangedBy, formatCommitMessage, toOneLine } from '../bot/commit-message.ts';
import { isPage, parseFilePath } from '../catalogue/page/layout.ts';
import { type PageFile, parsePageFile, readCommittedPages } from '../catalogue/page/page-file.ts';
import { withValues, withDefaults } from '../catalogue/page/page.ts';
import { isMainPage, isReadable } from '../catalogue/page/rules.ts';
import type { IndexedBot } from '../catalogue/store/bot-index.ts';
import { checkProposal } from '../check/check-changes.ts';
import { type FilesCommit, type NewFile, toNewFile } from '../git/commit-files.ts';
import { messageOf, UserError } from '../lib/errors.ts';
import { createLog } from '../lib/log.ts';
import { formatCount, quoteValue } from '../lib/text.ts';
import { commitForCommand, notMade } from '../sync/command-commits.ts';
import { revokeTokens } from '../tokens/tokens.ts';
import { warn } from './output.ts';
import { changeTokens } from './token.ts';
import type { CatalogueOnDisk } from './catalogue-on-disk.ts';

export interface ChangeOptions {
  /** The reason, for the commit's message. */
  readonly reason: string;
  /** Throws to refuse a change of that many bots. Without it the change is only described. */
  readonly confirm?: ((bots: number) => void) | undefined;
}

/** Checks that `--yes` confirms a change of that many bots. @param yes its number; true without one @throws {UserError} */
export function ensureConfirmed(bots: number, yes: string | true): void {
  if (yes === true ? bots > maxUnnumberedBots : Number(yes) !== bots)
    throw new UserError(
      `this changes ${formatCount(bots, 'bot')}${yes === true ? '' : `, and --yes is about ${yes}`}: run it without --yes to see them, then with --yes ${bots}\n${notMade}`,
    );
}

/** Returns the advice of a preview: the option that makes the change. */
export function formatConfirmation(bots: number): string {
  return `pass --yes${bots > maxUnnumberedBots ? ` ${bots}` : ''} to do it`;
}

/** The most bots that `--yes` changes without their number. */
const maxUnnumberedBots = 20;

/**
 * Removes all files of bots in one commit, and revokes their tokens. Returns a line for each bot that is removed.
 * @throws {UserError} if nothing was removed, or the tokens could not be revoked
 */
export async function removeBots(
  opened: CatalogueOnDisk,
  bots: readonly IndexedBot[],
  options: ChangeOptions,
): Promise<readonly string[]> {
  const lines = await changeBots(opened, bots, { ...options, verb: 'Remove' }, (pages) => ({
    files: pages.map(({ path }) => [path, null]),
    keys: [],
    what: formatCount(pages.filter(isPage).length, 'page'),
  }));
  if (!options.confirm) return lines;
  const ids = bots.map(({ id }) => id);
  try {
    await changeTokens(opened, async (committed, by) => await revokeTokens(committed, ids, by));
  } catch (error) {
    const advice = 'a service that runs in this clone ends them, or “botshelf revoke”';
    throw new UserError(
      `the bots are removed, but their tokens could not be revoked: ${messageOf(error)}; ${advice}`,
    );
  }
  return lines;
}

/**
 * Sets top-level keys of the main pages of bots in one commit. Returns a line for each bot that changes.
 * @throws {UserError} if nothing was changed, with every fault that the changed pages would have
 */
export async function setInBots(
  opened: CatalogueOnDisk,
  bots: readonly IndexedBot[],
  values: Readonly<Record<string, unknown>>,
  options: ChangeOptions,
): Promise<readonly string[]> {
  const fixed = ['created', 'edited'].find((key) => Object.hasOwn(values, key));
  if (fixed !== undefined) throw new UserError(`${fixed} cannot be set: leave it out`);
  const limits = opened.catalogue.settings.current;
  return await changeBots(opened, bots, options, (pages, texts) => {
    const own = pages.filter(isPage);
    const main = own.find((page) => own.length === 1 || (isReadable(page) && isMainPage(page)));
    if (main === undefined) throw new UserError('the main page cannot be read');
    const { path } = main;
    const text = withValues(path, texts.get(path) ?? null, values, Date.now());
    const after = pages.map((page) => (page === main ? parsePageFile(page, Buffer.from(text)) : page));
    const errors = checkProposal(pages, after, limits).filter(({ severity }) => severity === 'error');
    if (errors.length > 0) throw new UserError(errors.map(({ message }) => `${path}: ${message}`).join('; '));
    const before = withDefaults(main.page?.data ?? {});
    const keys = Object.keys(values).filter((key) => !isDeepStrictEqual(before[key], values[key]));
    const what = keys.map((key) => `${key} ${quoteValue(before[key])} → ${quoteValue(values[key])}`);
    return { files: keys.length > 0 ? [[path, text]] : [], keys, what: what.join(', ') };
  });
}

/** A change of a bot: the new texts of its files, null for removed ones, and a description. */
interface PlannedChange {
  readonly files: readonly (readonly [path: string, text: string | null])[];
  readonly keys: readonly string[];
  readonly what: string;
}

/** Commits a change of bots, planned on the tip of the branch. Returns a line for each bot that changes. */
async function changeBots(
  opened: CatalogueOnDisk,
  bots: readonly IndexedBot[],
  { reason, confirm, verb = 'Update' }: ChangeOptions & { readonly verb?: string },
  planBot: (pages: readonly PageFile[], texts: ReadonlyMap<string, string>) => PlannedChange,
): Promise<readonly string[]> {
  const repository = await opened.repositoryOpener.open();
  const { prefix, objects, hash } = repository;
  const lines = new Map<string, string>();
  const plan = async (tip: string | null): Promise<FilesCommit> => {
    const files = new Map<string, NewFile>();
    const edits: EditedBot[] = [];
    const faults: string[] = [];
    for (const { id, facts } of bots) {
      const found = await readCommittedPages(repository, String(tip), id);
      const blobs = await objects.read(found.map(({ blob }) => blob));
      const bytes = blobs.map((blob) => blob?.content ?? Buffer.alloc(0));
      const pages = found.map(({ place }, i) => parsePageFile(place, bytes[i] as Buffer, hash));
      const texts = new Map(pages.map(({ path }, i) => [path, String(bytes[i])]));
      try {
        const change = planBot(pages, texts);
        if (change.files.length === 0) continue;
        for (const [path, text] of change.files)
          files.set(prefix + path, text === null ? null : toNewFile(text));
        edits.push({ id, name: facts.name, keys: change.keys });
        lines.set(id, toOneLine(`${facts.name} (${id}): ${change.what}`, maxLineLength));
      } catch (error) {
        faults.push(messageOf(error));
      }
    }
    refuseFaults(faults);
    confirm?.(lines.size);
    const trailers = [formatChangedBy(readUserName())];
    return { files, message: formatCommitMessage(edits, trailers, { verb, reason }) };
  };
  if (!confirm) await plan('HEAD');
  else
    for (const path of await commitChange(opened, plan)) lines.delete(parseFilePath(path, prefix)?.id ?? '');
  return [...lines.values()];
}

/**
 * Commits the files that `plan` returns. Prints edits that were set aside, which make the exit code 1. Returns the
 * paths.
 * @throws as commitForCommand does
 */
export async function commitChange(
  { config, repositoryOpener }: Pick<CatalogueOnDisk, 'config' | 'repositoryOpener'>,
  plan: Parameters<typeof commitForCommand>[1],
): Promise<readonly string[]> {
  const clone = { repositoryOpener, var: config.var, log: await createLog(config.log) };
  const dropped = (await commitForCommand(clone, plan)).filter(({ of }) => of === 'ours');
  for (const { path, what } of dropped)
    warn(
      `${toOneLine(path)}: ${quoteValue(what)} was changed by others at the same time, and stays: run this again`,
    );
  if (dropped.length > 0) process.exitCode = 1;
  return dropped.map(({ path }) => path);
}

function refuseFaults(faults: readonly string[]): void {
  if (faults.length === 0) return;
  const more = faults.length > maxFaults ? [`and ${faults.length - maxFaults} more`] : [];
  const lines = [...faults.slice(0, maxFaults), ...more].map((line) => toOneLine(line, maxLineLength));
  throw new UserError(`${lines.join('\n')}\n${notMade}`);
}

const maxFaults = 50;

const maxLineLength = 1000;
