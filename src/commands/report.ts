import { join } from 'node:path';
import { findNewAdministrators } from '../app/attention.ts';
import { type Config, readConfig } from '../app/config.ts';
import { linksPathOf } from '../app/links.ts';
import { toCatalogueError } from '../app/start-errors.ts';
import type { BotId } from '../bot/id.ts';
import type { Locale } from '../bot/locale.ts';
import { Catalogue } from '../catalogue/store/catalogue.ts';
import { maskTokens } from '../check/token-search.ts';
import { type Count, toClockTime } from '../counts/bot-state.ts';
import { CommittedState } from '../counts/committed-state.ts';
import { CountHistory } from '../counts/count-history.ts';
import { createStateRef } from '../counts/state-ref.ts';
import { RepositoryOpener } from '../git/repository.ts';
import { ImageIndex } from '../images/image-index.ts';
import { readFailedLinks } from '../images/link-check.ts';
import { silentLog } from '../lib/log.ts';
import { Languages } from '../site/language/languages.ts';
import {
  type Attention,
  type AttentionItem,
  listAttention,
  toMessageValues,
} from '../site/review/attention.ts';

/**
 * Prints what needs attention in the catalogue: as markdown for an issue, or as JSON. Reads what a service has found, too,
 * and changes nothing.
 * @throws {UserError}
 */
export async function report({ json = false }: { readonly json?: boolean }): Promise<void> {
  const config = readConfig();
  const repositoryOpener = new RepositoryOpener(config.catalogue);
  const hash = await repositoryOpener.hash();
  const catalogue = new Catalogue({ root: config.catalogue, hash, log: silentLog, snapshot: null });
  try {
    await catalogue.load().catch((error: unknown) => {
      throw toCatalogueError(error, config);
    });
    const attention = await readAttention(config, catalogue, repositoryOpener);
    process.stdout.write(
      json
        ? `${maskTokens(JSON.stringify(attention, null, 2))}\n`
        : printMarkdown(attention, catalogue, config),
    );
  } finally {
    await catalogue.close();
    repositoryOpener.close();
  }
}

async function readAttention(
  config: Config,
  { store, settings }: Catalogue,
  repositoryOpener: RepositoryOpener,
): Promise<Attention> {
  const { bots } = store;
  const committed = new CommittedState(createStateRef(repositoryOpener, silentLog), silentLog);
  const latest = (id: BotId): Count | undefined => {
    const count = committed.state.count(id);
    return count && { value: count.value, at: toClockTime(count.at) };
  };
  const cache = { folder: config.var, isReadOnly: true };
  const countHistory = new CountHistory({ repositoryOpener, latest, ...cache, log: silentLog });
  // Without a repository nothing is known of counts and of the past.
  const readGit = async (): Promise<ReadonlyMap<BotId, number>> => {
    await committed.refresh();
    await countHistory.update();
    return await findNewAdministrators(bots, repositoryOpener, new AbortController().signal);
  };
  const administratorSince = await readGit().catch(() => undefined);
  return await listAttention({
    bots,
    faults: store.faults(),
    counts: { reportedAt: (id) => latest(id)?.at },
    countHistory,
    settings: settings.current,
    failedImages: (await ImageIndex.open(join(config.var, 'appdata/index'))).failures(),
    failedLinks: await readFailedLinks(linksPathOf(config)),
    administratorSince,
  });
}

/** Returns a heading for each kind and a line for each item. Values from the catalogue are code, which is no markup. */
function printMarkdown({ groups, isComplete }: Attention, { settings }: Catalogue, config: Config): string {
  const { text, day } = new Languages(silentLog, () => settings.current).messages('en' as Locale);
  const printItem = (item: AttentionItem): string => {
    const code = {
      ...('path' in item && { path: formatCode(item.path) }),
      ...('url' in item && { url: formatCode(item.url) }),
    };
    const parts = [
      item.name !== null && formatCode(item.name),
      item.bot !== null && `(${item.bot})`,
      text(`attention.${item.kind}.text`, { ...toMessageValues(item, { text, day }), ...code }),
      'message' in item && formatCode(item.message),
      item.fixPath !== null && `Edit: ${config.isBaseUrlSet ? config.baseUrl : ''}${item.fixPath}`,
    ];
    return `- ${parts.filter((part) => part !== false).join(' ')}\n`;
  };
  const sections = groups.flatMap(({ kind, total, items }) => {
    const more = total > items.length ? `- and ${total - items.length} more\n` : '';
    const title = text(`attention.${kind}.title`);
    return total > 0 ? [`## ${title} (${total})\n\n${items.map(printItem).join('')}${more}`] : [];
  });
  if (sections.length === 0) sections.push(`${text('attention.none')}\n`);
  if (!isComplete) sections.push('Not looked at, as Git cannot be read: counts, and changes of invites.\n');
  return `# Needs attention\n\n${sections.join('\n')}`;
}

/** Returns a text as a code span of markdown, in one line, without secrets and invisible characters. */
function formatCode(value: string): string {
  const line = maskTokens(value).replaceAll(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ');
  const fence = '`'.repeat(1 + Math.max(0, ...(line.match(/`+/g) ?? []).map((run) => run.length)));
  return `${fence} ${line} ${fence}`;
}
