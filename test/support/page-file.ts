import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import type { BotId } from '../../src/bot/id.ts';
import type { Locale } from '../../src/bot/locale.ts';
import { type Page, parsePage } from '../../src/catalogue/page/page.ts';
import { type PageFile, parsePageFile } from '../../src/catalogue/page/page-file.ts';
import { mainPage, translation } from './sample.ts';

/** The path that `parse` parses a file as. */
export const path = 'bots/312/190519304972663312.en.md';

/** Parses a file. */
export function parse(file: string | Buffer): ReturnType<typeof parsePage> {
  return parsePage(path, Buffer.from(file));
}

/** The page of a file without faults. */
export function good(file: string | Buffer): Page {
  const { page, faults } = parse(file);
  deepStrictEqual(faults, []);
  ok(page);
  return page;
}

/** The only fault of a file, as `line:column rule message`. */
export function fault(file: string | Buffer): string {
  const { page, faults } = parse(file);
  strictEqual(page, undefined);
  strictEqual(faults.length, 1, JSON.stringify(faults));
  return faults.map(({ line, column, rule, message }) => `${line}:${column} ${rule} ${message}`).join('');
}

/** A file whose front matter is `json`. */
export function withFrontMatter(json: string, page = ''): string {
  return `---\n${json}\n---\n${page}`;
}

/** A file without a page. */
export const homer = withFrontMatter('{"name": "Homer"}');

/** A page in a case: a text, what a translation has, or the keys of a main page. */
export type Content =
  | string
  | readonly [name: string, description: string, page?: string]
  | Readonly<Record<string, unknown>>;

/** Locale → page of a bot. */
export type Pages = Readonly<Record<string, Content>>;

/** The files of a bot. */
export function toFiles(id: BotId, pages: Pages): PageFile[] {
  return Object.entries(pages).map(([locale, content]) =>
    parsePageFile({ id, locale: locale as Locale }, Buffer.from(toText(content))),
  );
}

function toText(content: Content): string {
  if (typeof content === 'string') return content;
  return isTranslation(content) ? translation(...content) : mainPage(content);
}

function isTranslation(content: object): content is readonly [string, string, string?] {
  return Array.isArray(content);
}
