import { join } from 'node:path';
import { toOneLine } from '../bot/commit-message.ts';
import { english } from '../bot/locale.ts';
import { maskTokens } from '../bot/token.ts';
import { CountHistory } from '../counts/count-history.ts';
import { ImageIndex } from '../images/store.ts';
import { silentLog as log } from '../lib/log.ts';
import { Languages } from '../site/language/languages.ts';
import type { Messages } from '../site/language/messages.tsx';
import {
  readAttention,
  type Attention,
  type AttentionItem,
  toMessageValues,
} from '../site/discover/attention.ts';
import { withCatalogue } from './catalogue-on-disk.ts';
import { formatJson } from './output.ts';

/**
 * Prints the problems of the catalogue: as markdown for an issue, or as JSON. Includes those that a service has found,
 * and changes nothing.
 * @throws {UserError}
 */
export async function report({ json = false }: { readonly json?: boolean }): Promise<void> {
  await withCatalogue(async ({ config, catalogue, repositoryOpener, latest, counts }) => {
    const countHistory = new CountHistory({ repositoryOpener, latest, log });
    // Without a repository there are no counts.
    await countHistory.update({ recentOnly: true }).catch(() => {});
    const attention = await readAttention({
      store: catalogue.store,
      settings: catalogue.settings,
      blocked: catalogue.blocked,
      state: counts,
      countHistory,
      images: await ImageIndex.open(join(config.var, 'appdata/index')),
      repositoryOpener,
      log,
    });
    const messages = new Languages(log, () => catalogue.settings.current).messages(english);
    const site = config.isBaseUrlSet ? config.baseUrl : '';
    process.stdout.write(
      json ? `${maskTokens(formatJson(attention))}\n` : printMarkdown(attention, messages, site),
    );
  });
}

/** Returns a heading for each kind and a line for each item. Values from the catalogue are code spans. */
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
  const line = toOneLine(maskTokens(value), Infinity);
  const fence = '`'.repeat(1 + Math.max(0, ...(line.match(/`+/g) ?? []).map((run) => run.length)));
  return `${fence} ${line} ${fence}`;
}
