import type { ListParameter } from '../../catalogue/lists/parameters.ts';

/** Part of the OpenAPI document. A `$ref` is one as in `schemas/`; a schema with a title becomes a component. */
export type Json = string | number | boolean | null | undefined | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

/** Path → method → operation. */
export type Paths = Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;

interface Read extends JsonObject {
  /** What the response has. */
  readonly returns: string;
  /** Media type → content. */
  readonly content: JsonObject;
  readonly parameters?: readonly Json[];
  /** Headers and statuses in addition to those of every read. */
  readonly headers?: readonly string[];
  readonly problems?: readonly number[];
}

/** Describes a GET that has an ETag. */
export function describeRead({
  returns,
  content,
  parameters = [],
  headers = [],
  problems = [],
  ...rest
}: Read): {
  readonly get: JsonObject;
} {
  const responses = {
    '200': { description: returns, headers: createHeaders([...readHeaders, ...headers]), content },
    '304': createReference('responses', 'NotModified'),
    ...createProblems(400, 405, 406, 429, 503, ...problems),
  };
  return {
    get: { ...rest, parameters: [...parameters, createReference('parameters', 'If-None-Match')], responses },
  };
}

const readHeaders = [
  'ETag',
  'Cache-Control',
  'Vary',
  'Access-Control-Allow-Origin',
  'Access-Control-Expose-Headers',
];

export function toJson(schema: JsonObject): JsonObject {
  return { 'application/json': { schema } };
}

/** Returns lines of JSON. @param definition the name of a line's schema in `definitions` */
export function toLines(definition: string): JsonObject {
  const schema = {
    type: 'string',
    description: 'Each line is one such document.',
    contentMediaType: 'application/json',
    contentSchema: { $ref: `definitions.schema.json#/$defs/${definition}` },
  };
  return { 'application/x-ndjson': { schema } };
}

export function createQueryParameters(
  table: ReadonlyMap<string, Pick<ListParameter<unknown>, 'description' | 'schema' | 'example' | 'repeats'>>,
): JsonObject[] {
  return [...table].map(([name, { description, schema, example, repeats }]) => ({
    name,
    in: 'query',
    description,
    schema: { ...schema },
    example,
    // The default, without which orval joins a list by commas.
    explode: repeats,
  }));
}

function createHeaders(names: readonly string[]): JsonObject {
  const all = [...names, 'X-Content-Type-Options'];
  return Object.fromEntries(all.map((name) => [name, createReference('headers', name)]));
}

/** Returns the responses to requests that fail. */
function createProblems(...statuses: readonly number[]): JsonObject {
  const named = statuses.map((status) => [status, createReference('responses', `Problem${status}`)] as const);
  return Object.fromEntries([...named, ['default', createReference('responses', 'Problem')]]);
}

/** Returns a reference to a component of `schemas/openapi.json`. */
export function createReference(kind: 'headers' | 'parameters' | 'responses', name: string): JsonObject {
  return { $ref: `#/components/${kind}/${name}` };
}
