import { type AccountId, parseAccountId } from '../../src/bot/commit-message.ts';
import { parseBotId } from '../../src/bot/id.ts';
import type { BotId } from '../../src/bot/id.ts';
import { parseLocale } from '../../src/bot/locale.ts';
import { commandsPart, pathOf } from '../../src/catalogue/page/layout.ts';

/** The id that `text` must be. */
export function botId(text: string): BotId {
  const id = parseBotId(text);
  if (id === undefined) throw new Error(`${text} is no bot id`);
  return id;
}

/** The account id that `text` must be. */
export function accountId(text: string): AccountId {
  const id = parseAccountId(text);
  if (id === undefined) throw new Error(`${text} is no account id`);
  return id;
}

/** The path of a bot's page, relative to the catalogue. */
export function pagePath(id: string, locale = 'en'): string {
  const tag = parseLocale(locale);
  if (typeof tag === 'object') throw new Error(`${locale} ${tag.reason}`);
  return pathOf(botId(id), tag);
}

/** The path of the file with a bot's commands, relative to the catalogue. */
export function commandsPath(id: string): string {
  return pathOf(botId(id), commandsPart);
}

/** The front matter of a main page: the keys that are required. */
export const homerKeys = {
  name: 'Homer',
  description: 'Answers questions about doughnuts.',
  authors: ['190519304972664832'],
  category: 'fun',
  created: 1_700_000_000_000,
  invite: 'https://example.org/invite',
};

/** The text of a main page: a whole bot, with `keys` put over it. */
export function mainPage(
  keys: Readonly<Record<string, unknown>> = {},
  page = '# Homer\n\nThe page.\n',
): string {
  return `---\n${JSON.stringify({ ...homerKeys, ...keys }, null, 2)}\n---\n\n${page}`;
}

/** The text of a translation. */
export function translation(name: string, description: string, page = ''): string {
  return `---\n${JSON.stringify({ name, description }, null, 2)}\n---\n\n${page}`;
}

/** The text of a profile. */
export function profile(keys: Readonly<Record<string, unknown>> = {}): string {
  return `${JSON.stringify({ name: 'Ada', ...keys }, null, 2)}\n`;
}

/** The text of a file of a collection. */
export function collection(keys: Readonly<Record<string, unknown>>, page = ''): string {
  const all = { title: 'For small servers', description: 'Bots that need no set-up.', ...keys };
  return `---\n${JSON.stringify(all, null, 2)}\n---\n\n${page}`;
}
