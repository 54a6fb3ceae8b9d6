import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { typesFromSchemas, typesPath } from '../../scripts/schema-types.ts';
import { readSchema, schemaNames, toSchemaPath } from '../../src/bot/schemas.ts';

const names = [...schemaNames, 'definitions'] as const;

describe('the schemas', () => {
  it('are what the types were generated from', async () => {
    const generated = await typesFromSchemas();
    ok(readFileSync(typesPath, 'utf8') === generated, 'schemas/types.ts is out of date: run npm run types');
  });

  it('are all named in src/bot/schemas.ts', () => {
    const files = readdirSync(dirname(toSchemaPath('definitions'))).filter((name) =>
      name.endsWith('.schema.json'),
    );
    const expected = names.filter((name) => name !== 'list-element').map((name) => `${name}.schema.json`);
    deepStrictEqual(files.toSorted(), expected.toSorted());
  });

  for (const name of names) {
    it(`are valid JSON Schema 2020-12: ${name}`, () => {
      const ajv = new Ajv2020({ strict: false });
      strictEqual(readSchema(name)['$schema'], 'https://json-schema.org/draft/2020-12/schema');
      ok(ajv.validateSchema(readSchema(name)), ajv.errorsText());
    });

    it(`forbid keys nobody named, in every object of ${name}`, () => {
      deepStrictEqual(openObjects(readSchema(name), name), []);
    });
  }
});

/** The places of schemas for an object that takes any key. */
function openObjects(node: unknown, place: string): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const schema = node as Record<string, unknown>;
  const below = Object.entries(schema).flatMap(([key, child]) => openObjects(child, `${place}/${key}`));
  const open = schema['type'] === 'object' && isOpen(schema['additionalProperties']);
  return open ? [place, ...below] : below;
}

/** A map, such as locale → content, names its keys by `propertyNames` and gives its values a schema. */
function isOpen(additional: unknown): boolean {
  return additional === undefined || additional === true;
}
