import { deepStrictEqual, match, ok } from 'node:assert/strict';
import { defaultCategories } from '../../src/bot/schemas.ts';
import { parseUpdate } from '../../src/http/api/update-body.ts';
import { ProblemError } from '../../src/http/problem.ts';
import { readStrictJson } from '../../src/lib/json.ts';
import type { Target } from './fuzzer.ts';
import { jsonWords, schemaWords } from './words.ts';

/**
 * A body that is read has the value that JSON.parse gives it. A refused body is not JSON, has a key twice, or is nested
 * deeper than eight levels. The body of an update has no key but those of its schema.
 */
export const jsonBody: Target = {
  words: [...jsonWords, ...schemaWords('update'), '"bot.count":', '"server_count":'],
  libraries: ['jsonc-parser'],
  test: (input) => {
    const text = input.toString();
    const value = parseJson(text);
    const read = readStrictJson(text, 'the text');
    if ('data' in read) {
      deepStrictEqual(read.data, value);
      ok(depthOf(value) <= 8 && countKeys(text) === countKeys(JSON.stringify(value)));
    } else {
      for (const { offset, message } of read.faults) {
        ok(offset >= 0 && offset <= text.length);
        match(message, /^[^\n]+: [^\n]+$/);
      }
      const [{ rule }] = read.faults;
      if (rule === 'json') deepStrictEqual(value, undefined);
      else if (rule === 'object') ok(typeof value !== 'object' || value === null || Array.isArray(value));
      // In a text that is not JSON, this comes before the first error.
      else if (rule === 'nesting') ok(value === undefined || depthOf(value) > 8);
      else if (value !== undefined) ok(countKeys(text) > countKeys(JSON.stringify(value)), rule);
    }
    try {
      const update = parseUpdate(text, defaultCategories, () => 'edit the file by pull request');
      ok(Object.keys(update).length > 0 && Object.keys(update).every((key) => keys.includes(key)));
      ok(value !== undefined || text.startsWith('\uFEFF'));
    } catch (error) {
      ok(error instanceof ProblemError, error as Error);
      match(error.message, /: /);
    }
  },
};

const keys = ['count', 'nsfw', 'category', 'support', 'website', 'oauth', 'invite'];

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** The number of keys in a JSON text. */
function countKeys(text: string): number {
  return [...text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/gs)].filter(([, colon]) => colon !== undefined).length;
}
