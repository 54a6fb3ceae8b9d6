import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compile, type JSONSchema } from 'json-schema-to-typescript';
import {
  readSchema,
  type SchemaDocument,
  type SchemaName,
  schemaNames,
  toSchemaPath,
} from '../src/bot/schemas.ts';

/** The path of the generated types in the source tree. */
export const typesPath = fileURLToPath(new URL('./src/bot/schema-types.ts', import.meta.resolve('#package')));

/** Returns the TypeScript types of the schemas in `schemas/` that the code uses, as the text of one module. */
export async function typesFromSchemas(): Promise<string> {
  const names = schemaNames.filter((name) => name !== 'update-answer');
  const everything = {
    title: 'Schemas',
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(names.map((name) => [name, referenceTo(name)])),
    required: [...names],
  } as JSONSchema;
  const types = await compile(everything, 'Schemas', {
    bannerComment: '// Generated from schemas/ by `npm run types`; edit the schemas instead.',
    format: true,
    style: { singleQuote: true, printWidth: 110 },
    ignoreMinAndMaxItems: true,
    cwd: dirname(toSchemaPath('definitions')),
  });
  return types.replace(/^export interface Schemas \{.*?^\}\n/ms, '');
}

function referenceTo(name: SchemaName): SchemaDocument {
  if (name === 'update') return { $ref: `${toSchemaPath(name)}#/properties/bot` };
  if (name !== 'list-element') return { $ref: toSchemaPath(name) };
  const { title, description } = readSchema(name);
  const content = "Omit<BotRecord['contents'][string], 'page'>";
  const tsType = `Omit<BotRecord, 'contents'> & { contents: { [k: string]: ${content} } }`;
  return { title, description, tsType };
}
