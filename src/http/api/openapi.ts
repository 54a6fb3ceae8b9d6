import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Router } from '@koa/router';
import type { Category } from '../../../schemas/types.ts';
import { readSchema, type SchemaDocument, type SchemaName } from '../../bot/schemas.ts';
import { type ListParameter, listParameters } from '../../catalogue/lists/parameters.ts';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import { basePathOf, toContactAddress } from '../../lib/network.ts';
import { createJson, readHeaders, send } from '../representation.ts';

/**
 * Adds the OpenAPI document, and redirects to it and to the page about the API from where people look for them.
 * @param baseUrl the public address, without a slash at its end
 * @param settings returns those in force
 * @param contact returns how to reach the operator
 */
export function addOpenApiRoute(
  router: Router,
  baseUrl: string,
  settings: () => CatalogueSettings,
  contact: () => string | null,
): void {
  router.get('/api/openapi.json', async (ctx) => {
    const inForce = settings();
    const current = (): boolean => settings() === inForce;
    await send(ctx, { ...createJson(openApi(baseUrl, inForce, contact())), current });
  });
  const basePath = basePathOf(baseUrl);
  router.get(['/api', '/api/v2', '/openapi.json'], (ctx) => {
    ctx.set('Link', `<${basePath}/api/openapi.json>; rel="service-desc"`);
    ctx.redirect(basePath + (ctx.path.endsWith('.json') ? '/api/openapi.json' : '/docs'));
  });
}

/** Returns the OpenAPI 3.1 document of the API, with the schemas that the service itself validates with. */
export function openApi(
  baseUrl: string,
  { name, categories, license }: Pick<CatalogueSettings, 'name' | 'categories' | 'license'>,
  contact: string | null = null,
): object {
  const file = fileURLToPath(import.meta.resolve('#openapi'));
  const { info, components, paths, ...rest } = JSON.parse(readFileSync(file, 'utf8')) as Written;
  paths['/api/v2/bots'].get.parameters.unshift(...describeListParameters());
  const { schemas, convert } = createConverter(categories);
  return {
    ...rest,
    info: {
      title: name,
      ...info,
      description: `${info['description'] as string} ${describeLicense(license)}`,
      ...(contact !== null && { contact: describeContact(contact) }),
      ...(license !== null && {
        license: { name: license, ...(isSpdx(license) && { identifier: license }) },
      }),
    },
    servers: [{ url: baseUrl }],
    paths: convert(paths),
    components: { ...(convert(components) as JsonObject), schemas },
  };
}

function describeContact(contact: string): JsonObject {
  const address = toContactAddress(contact);
  return { [address === undefined ? 'name' : address === contact ? 'url' : 'email']: contact };
}

function describeLicense(license: string | null): string {
  return license === null
    ? 'The list names no licence for its data and texts: ask the operator before you publish them elsewhere.'
    : `The licence of data and texts: ${license}.`;
}

/** Returns headers of open data with its licence (RFC 8288), if that is an identifier of SPDX. */
export function createDataHeaders(license: string | null): Readonly<Record<string, string>> {
  if (license === null || !isSpdx(license)) return readHeaders;
  return { ...readHeaders, Link: `<https://spdx.org/licenses/${license}.html>; rel="license"` };
}

/** Returns whether a licence has the form of an identifier of SPDX, such as CC-BY-4.0. */
function isSpdx(license: string): boolean {
  return /^[A-Za-z0-9.-]+$/.test(license);
}

/** The file, without the query parameters of the list of bots. A `$ref` is one as in `schemas/`. */
interface Written extends Readonly<Record<'info' | 'components', JsonObject>> {
  readonly paths: JsonObject & {
    readonly '/api/v2/bots': { readonly get: { readonly parameters: Json[] } };
  };
}

type Json = string | number | boolean | null | undefined | readonly Json[] | JsonObject;
type JsonObject = { readonly [key: string]: Json };

function describeListParameters(): JsonObject[] {
  return Object.entries<ListParameter<unknown>>(listParameters).map(
    ([name, { description, schema, example, repeats }]) => ({
      name,
      in: 'query',
      description,
      schema: { ...schema },
      example,
      // States the default, because orval otherwise joins a list by commas.
      explode: repeats && repeats === true,
    }),
  );
}

/** The place of a schema. */
interface SchemaPlace {
  readonly file: SchemaName | 'definitions';
  /** Whether clients send the document: only then are unknown keys forbidden. */
  readonly isSent: boolean;
}

/**
 * Returns a function that copies a part of the document, and the schemas that the parts refer to. Each is a component of its
 * own: many generators read no other reference, and ignore the keys next to one.
 */
function createConverter(categories: readonly Category[]): {
  readonly schemas: JsonObject;
  readonly convert: (value: Json) => Json;
} {
  const schemas: Record<string, Json> = {};
  const files = new Map<string, SchemaDocument>([['definitions', readSchema('definitions', categories)]]);
  const addComponent = (name: string, schema: JsonObject, place: SchemaPlace): JsonObject => {
    if (!(name in schemas)) {
      schemas[name] = {};
      schemas[name] = convertKeys(schema, place);
    }
    return { $ref: `#/components/schemas/${name}` };
  };
  const convertKeys = (value: JsonObject, place: SchemaPlace): JsonObject => {
    const kept = Object.entries(value).filter(
      ([key, inner]) =>
        !ownKeywords.has(key) &&
        (key !== 'pattern' || !('enum' in value)) &&
        (key !== 'additionalProperties' || inner !== false || place.isSent),
    );
    const placeOf = (key: string): SchemaPlace =>
      key === 'requestBody' ? { ...place, isSent: true } : place;
    return Object.fromEntries(kept.map(([key, inner]) => [key, convert(inner, placeOf(key))]));
  };
  const convert = (value: Json, place: SchemaPlace): Json => {
    if (Array.isArray(value)) return value.map((item: Json) => convert(item, place));
    if (typeof value !== 'object' || value === null) return value;
    const whole = value as JsonObject;
    const { $ref, ...rest } = whole;
    const title = typeof rest['title'] === 'string' ? rest['title'] : undefined;
    if (typeof $ref !== 'string' || $ref.startsWith('#/components/'))
      return title === undefined ? convertKeys(whole, place) : addComponent(title, whole, place);
    const [path = '', pointer = ''] = $ref.split('#');
    const file = path === '' ? place.file : (path.replace('.schema.json', '') as SchemaPlace['file']);
    const schema = files.get(file) ?? readSchema(file);
    files.set(file, schema);
    const keys = pointer.split('/').slice(1);
    const target = keys.reduce((inner, key) => inner[key] as JsonObject, schema as JsonObject);
    // Commands are sent as Discord's API has them, and their other keys are ignored.
    const there = { file, isSent: place.isSent && file !== 'commands' };
    if (title !== undefined) {
      const properties = { ...(target['properties'] as JsonObject), ...(rest['properties'] as JsonObject) };
      return addComponent(title, { ...target, ...rest, properties }, there);
    }
    const name = keys[0] === '$defs' ? keys.at(-1) : target['title'];
    if (typeof name !== 'string' || '$ref' in target) return convert({ ...target, ...rest }, there);
    return { ...addComponent(name, target, there), ...convertKeys(rest, place) };
  };
  return { schemas, convert: (value) => convert(value, { file: 'definitions', isSent: false }) };
}

/** Keys of schemas that the document does not have. */
const ownKeywords = new Set(['$schema', '$id', '$defs', 'x-advice', 'x-category', 'x-address']);
