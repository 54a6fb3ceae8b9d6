import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { toCanonicalForm } from '../../../src/catalogue/page/page.ts';

function page(json: string, markdown = '\n# A\n'): string {
  return `---\n${json}\n---\n${markdown}`;
}

function jsonOf(text: string): string {
  return text.slice(4, text.indexOf('\n---\n', 4));
}

/** Front matter as people write it: our keys and others, in any order. */
const frontMatter = fc
  .dictionary(
    fc.oneof(fc.constantFrom('name', 'description', 'images', 'trigger', 'created', 'website'), fc.string()),
    fc.jsonValue({ maxDepth: 3 }),
  )
  .filter((data) => !('__proto__' in data && Object.hasOwn(data, '__proto__')));

describe('the canonical form of a page file', () => {
  it('is the form of itself, says the same, and leaves the markdown alone', () => {
    fc.assert(
      fc.property(frontMatter, fc.constantFrom('', ' ', '\t', 3), fc.string(), (data, space, markdown) => {
        const text = page(JSON.stringify(data, null, space), markdown);
        const form = toCanonicalForm(text);
        strictEqual(toCanonicalForm(form), form);
        deepStrictEqual(JSON.parse(jsonOf(form)), JSON.parse(JSON.stringify(data)));
        strictEqual(form.slice(form.length - markdown.length), markdown);
      }),
    );
  });

  it('is the same whatever the order of the keys was', () => {
    const members = Object.entries({ name: 'A', description: 'B', authors: [], trigger: {}, website: null });
    fc.assert(
      fc.property(fc.shuffledSubarray(members, { minLength: members.length }), (shuffled) => {
        const form = toCanonicalForm(page(JSON.stringify(Object.fromEntries(shuffled))));
        strictEqual(form, toCanonicalForm(page(JSON.stringify(Object.fromEntries(members)))));
      }),
    );
  });

  it('puts nested keys in the schema’s order and unknown ones last, in their own', () => {
    const text = page(
      '{"zeta":1,"alpha":{"b":1,"a":2},"trigger":{"mentionable":true,"x":0,"prefix":["!"]},"name":"A"}',
    );
    deepStrictEqual(jsonOf(toCanonicalForm(text)).match(/"\w+"(?=:)/g), [
      '"name"',
      '"trigger"',
      '"prefix"',
      '"mentionable"',
      '"x"',
      '"zeta"',
      '"alpha"',
      '"b"',
      '"a"',
    ]);
  });

  it('keeps the digits of a number that JavaScript cannot hold, such as an id without quotes', () => {
    const form = toCanonicalForm(page('{"authors":[190519304972663312],"random":1e400,"created":1.50}'));
    strictEqual(
      jsonOf(form),
      '{\n  "authors": [\n    190519304972663312\n  ],\n  "created": 1.50,\n  "random": 1e400\n}',
    );
  });

  it('keeps the characters of a text, a key called __proto__ and a lone surrogate', () => {
    const form = jsonOf(toCanonicalForm(page('{"__proto__":"\\u00e9\\/\\ud800","name":"a\\"b\\\\"}')));
    strictEqual(form, '{\n  "name": "a\\"b\\\\",\n  "__proto__": "é/\\ud800"\n}');
  });

  it('writes the lines around the front matter in one way', () => {
    strictEqual(toCanonicalForm('---json\r\n{ }\r\n---\r\n\r\nA\r\n'), '---\n{}\n---\n\r\nA\r\n');
    strictEqual(toCanonicalForm('---\n{}\n---'), '---\n{}\n---\n');
    strictEqual(toCanonicalForm(`---\n${'[['.repeat(2)}${']]'.repeat(2)}\n---\n`).includes('[]'), true);
  });
});
