import { join } from 'node:path';
import { readAttention } from '../app/attention.ts';
import { readConfig } from '../app/config.ts';
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
import { silentLog as log } from '../lib/log.ts';
import { Languages } from '../site/language/languages.ts';
import type { Messages } from '../site/language/messages.tsx';
import { type Attention, type AttentionItem, toMessageValues } from '../site/review/attention.ts';

/**
 * Prints what needs attention in the catalogue: as markdown for an issue, or as JSON. Reads what a service has found, too,
 * and changes nothing.
 * @throws {UserError}
 */
export async function report({ json = false }: { readonly json?: boolean }): Promise<void> {
  const config = readConfig();
  const folder = config.var;
  const repositoryOpener = new RepositoryOpener(config.catalogue);
  const hash = await repositoryOpener.hash();
  const catalogue = new Catalogue({ root: config.catalogue, hash, log, snapshot: null });
  const committed = new CommittedState(createStateRef(repositoryOpener, log), log);
  const latest = (id: BotId): Count | undefined => {
    const count = committed.state.count(id);
    return count && { value: count.value, at: toClockTime(count.at) };
  };
  const countHistory = new CountHistory({ repositoryOpener, latest, folder, isReadOnly: true, log });
  try {
    await catalogue.load().catch((error: unknown) => {
      throw toCatalogueError(error, config);
    });
    // Without a repository there are no counts.
    await committed
      .refresh()
      .then(async () => await countHistory.update())
      .catch(() => {});
    const failedLinks = await readFailedLinks(join(folder, 'links.json'));
    const attention = await readAttention({
      store: catalogue.store,
      settings: catalogue.settings,
      state: { reportedAt: (id) => latest(id)?.at },
      countHistory,
      images: await ImageIndex.open(join(folder, 'appdata/index')),
      links: { failures: () => failedLinks },
      repositoryOpener,
      log,
    });
    const messages = new Languages(log, () => catalogue.settings.current).messages('en' as Locale);
    const site = config.isBaseUrlSet ? config.baseUrl : '';
    process.stdout.write(
      json ? `${maskTokens(JSON.stringify(attention, null, 2))}\n` : printMarkdown(attention, messages, site),
    );
  } finally {
    await catalogue.close();
    repositoryOpener.close();
  }
}

/** Returns a heading for each kind and a line for each item. Values from the catalogue are code, which is no markup. */
function printMarkdown({ groups, isComplete }: Attention, messages: Messages, site: string): string {
  const { text } = messages;
  const printItem = (item: AttentionItem): string => {
    const { kind, bot, name, fixPath, values } = item;
    const { path = '', url = '', message } = values;
    const code = { path: formatCode(String(path)), url: formatCode(String(url)) };
    const parts = [
      name !== null && formatCode(name),
      bot !== null && `(${bot})`,
      text(`attention.${kind}.text`, { ...toMessageValues(item, messages), ...code }),
      message !== undefined && formatCode(String(message)),
      fixPath !== null && `Edit: ${site}${fixPath}`,
    ];
    return `- ${parts.filter((part) => part !== false).join(' ')}\n`;
  };
  const sections = groups
    .filter(({ total }) => total > 0)
    .map(({ kind, total, items }) => {
      const more = total > items.length ? `- and ${total - items.length} more\n` : '';
      return `## ${text(`attention.${kind}.title`)} (${total})\n\n${items.map(printItem).join('')}${more}`;
    });
  if (sections.length === 0) sections.push(`${text('attention.none')}\n`);
  if (!isComplete) sections.push(`${text('attention.incomplete')}\n`);
  return `# Needs attention\n\n${sections.join('\n')}`;
}

/** Returns a text as a code span of markdown, in one line, without secrets and invisible characters. */
function formatCode(value: string): string {
  const line = maskTokens(value).replaceAll(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ');
  const fence = '`'.repeat(1 + Math.max(0, ...(line.match(/`+/g) ?? []).map((run) => run.length)));
  return `${fence} ${line} ${fence}`;
}
