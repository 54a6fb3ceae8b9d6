import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { type Page, parsePage } from '../../src/catalogue/page/page.ts';

/** The path that `parse` parses a file as. */
export const path = 'bots/312/190519304972663312.en.md';

/** What a file is parsed to. */
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
