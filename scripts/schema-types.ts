import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compile, type JSONSchema } from 'json-schema-to-typescript';
import {
  readSchema,
  type SchemaDocument,
  type SchemaName,
  schemaNames,
  schemaPath,
} from '../src/bot/schemas.ts';

/** The path of the generated types in the source tree. */
export const typesPath = fileURLToPath(new URL('./src/bot/schema-types.ts', import.meta.resolve('#package')));

/** The TypeScript types of every schema in `schemas/`, as the text of one module. */
export async function typesFromSchemas(): Promise<string> {
  const everything = {
    title: 'Schemas',
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(schemaNames.map((name) => [name, referenceTo(name)])),
    required: [...schemaNames],
  } as JSONSchema;
  return await compile(everything, 'Schemas', {
    bannerComment: '// Generated from schemas/ by `npm run types`; edit the schemas instead.',
    format: true,
    style: { singleQuote: true, printWidth: 110 },
    ignoreMinAndMaxItems: true,
    cwd: dirname(schemaPath('definitions')),
  });
}

function referenceTo(name: SchemaName): SchemaDocument {
  if (name !== 'list-element') return { $ref: schemaPath(name) };
  const { $id: _id, ...schema } = readSchema(name);
  return schema;
}
