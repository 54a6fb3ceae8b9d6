import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compile, type JSONSchema, type Options } from 'json-schema-to-typescript';
import {
  readSchema,
  type SchemaDocument,
  type SchemaName,
  schemaNames,
  toSchemaPath,
} from '../src/bot/schemas.ts';
import { toSettings } from '../src/catalogue/settings/settings.ts';
import { openApi } from '../src/http/api/openapi.ts';

/** The path of the generated types in the source tree. */
export const typesPath = fileURLToPath(new URL('./schemas/types.ts', import.meta.resolve('#package')));

/** The path of the types of the client for owners. */
export const clientTypesPath = fileURLToPath(
  new URL('./clients/typescript/src/api.ts', import.meta.resolve('#package')),
);

/** Returns the TypeScript types of the schemas in `schemas/` that the code uses, as the text of one module. */
export async function typesFromSchemas(): Promise<string> {
  const names = schemaNames.filter((name) => name !== 'update-answer');
  return await compileTypes(Object.fromEntries(names.map((name) => [name, referenceTo(name)])), {
    bannerComment: '// Generated from schemas/ by `npm run types`; edit the schemas instead.',
    cwd: dirname(toSchemaPath('definitions')),
  });
}

/** Returns the TypeScript types of the OpenAPI document that the client uses, as the text of one module. */
export async function typesFromOpenApi(): Promise<string> {
  const { components, paths } = openApi('', toSettings()) as {
    readonly components: { readonly schemas: Record<string, SchemaDocument> };
    readonly paths: {
      readonly '/api/v2/bots': { readonly get: { readonly parameters: readonly Parameter[] } };
    };
  };
  // Catalogues have categories of their own.
  const { enum: _enum, ...category } = components.schemas['category'] ?? {};
  const ListQuery = {
    title: 'ListQuery',
    description: 'The parameters of GET /api/v2/bots.',
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(
      paths['/api/v2/bots'].get.parameters
        .filter((parameter) => parameter.in === 'query')
        .map(({ name, description, schema }) => [
          name,
          { ...('$ref' in schema ? { allOf: [schema] } : schema), description },
        ]),
    ),
  };
  const names = [
    'BotRecord',
    'BotListElement',
    'BotListPart',
    'UpdateValues',
    'UpdateAnswer',
    'Problem',
    'latestCount',
    'botStats',
    'exportLine',
    'CatalogueChanges',
    'CommandsAnswer',
    'PageAnswer',
  ];
  const properties = Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/schemas/${name}` }]),
  );
  return await compileTypes(
    { ...properties, ListQuery },
    {
      bannerComment: '// Generated from the OpenAPI document by `npm run types`; edit the schemas instead.',
      additionalProperties: false,
    },
    { components: { schemas: { ...components.schemas, category } } },
  );
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description: string;
  readonly schema: SchemaDocument;
}

async function compileTypes(
  properties: Readonly<Record<string, SchemaDocument>>,
  options: Partial<Options>,
  more: object = {},
): Promise<string> {
  const everything = {
    ...more,
    title: 'Schemas',
    type: 'object',
    additionalProperties: false,
    properties,
    required: Object.keys(properties),
  } as JSONSchema;
  const types = await compile(everything, 'Schemas', {
    format: true,
    style: { singleQuote: true, printWidth: 110 },
    ignoreMinAndMaxItems: true,
    ...options,
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
