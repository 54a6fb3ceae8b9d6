/** The parts of the OpenAPI document that `docs/api.md` has. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly responses: Readonly<Record<string, { readonly description: string }>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly schemas: Readonly<Record<string, Schema>>;
  };
}

interface Operation {
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> };
  readonly responses: Readonly<Record<string, { readonly description: string } | Reference>>;
}

interface Reference {
  readonly $ref: string;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description: string;
  readonly example?: string | number;
  readonly schema: Schema;
}

interface Schema extends Partial<Reference> {
  readonly type?: string;
  readonly items?: Schema;
  readonly examples?: readonly (string | number)[];
  readonly enum?: readonly string[];
}

/** The body of an error. */
export interface Problem {
  readonly type: string;
  readonly detail: string;
}

/** An example of a guide: a command, and what follows it; empty where nothing does. */
export interface Example {
  readonly command: string;
  readonly output: string;
}

/** Returns the examples of a guide, in their order. */
export function listExamples(guide: string): Example[] {
  return [...guide.matchAll(consoleBlock)].flatMap(([, block = '']) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((example) => {
        const [, command = '', output = ''] = /^((?:.*\\\n)*.*)\n([^]*)$/.exec(example) ?? [];
        return { command, output };
      }),
  );
}

const consoleBlock = /^```console\n([^]*?)^```$/gm;

/**
 * Returns the guide with the routes and errors of the document in place of those that it has.
 * @param problems an example of each error, by its status
 */
export function fillGuide(
  guide: string,
  document: ApiDocument,
  problems: ReadonlyMap<string, Problem>,
): string {
  const written = listExamples(replacePart(guide, 'routes', '')).map(({ command }) => command);
  // An image is no JSON, and its path is that in the record of a bot.
  const paths = Object.entries(document.paths).filter(([path]) => path.startsWith('/api/'));
  const routes = paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      formatRoute(document, `${method.toUpperCase()} ${path}`, operation, written),
    ),
  );
  const statuses = new Set(
    Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ responses }) => Object.keys(responses).filter(isError)),
    ),
  );
  const errors = [...statuses].toSorted().map((status) => {
    const problem = problems.get(status);
    if (problem === undefined)
      throw new Error(
        `no request is known for status ${status}: add one to test/process/api-documents.test.ts`,
      );
    const meaning = document.components.responses[`Problem${status}`]?.description ?? '';
    return `- **${status}** ${meaning} \`${problem.type.replace(/.*:/, '')}\`: \`${problem.detail}\`\n`;
  });
  return replacePart(replacePart(guide, 'routes', routes.join('\n')), 'errors', errors.join(''));
}

/** Returns the guide with the output of each command that shows one. */
export function fillOutputs(guide: string, outputs: ReadonlyMap<string, string>): string {
  return guide.replace(consoleBlock, (block) => {
    const [example] = listExamples(block);
    if (example === undefined || example.output === '') return block;
    return formatBlock(example.command, outputs.get(example.command) ?? '');
  });
}

function replacePart(guide: string, name: string, text: string): string {
  const [begin, end] = [`<!-- ${name} -->\n`, '<!-- end -->'];
  const from = guide.indexOf(begin) + begin.length;
  return `${guide.slice(0, from)}\n${text}\n${guide.slice(guide.indexOf(end, from))}`;
}

/** Returns the parameters of an operation, also those that several share. */
export function listParameters(
  { components }: Pick<ApiDocument, 'components'>,
  { parameters = [] }: Pick<Operation, 'parameters'>,
): Parameter[] {
  return parameters.flatMap((each) =>
    '$ref' in each ? (components.parameters[each.$ref.replace(/.*\//, '')] ?? []) : each,
  );
}

/** @param written the examples that the guide has elsewhere, next to the first requests */
function formatRoute(
  document: ApiDocument,
  route: string,
  operation: Operation,
  written: readonly string[],
): string {
  const { summary, description = '', responses } = operation;
  const title = route.replaceAll(/\{(\w+)\}/g, ':$1');
  const head = [`### ${summary}`, `<details>\n<summary><code>${title}</code></summary>`, description];
  if (description.startsWith('The same as')) return [...head, '</details>\n'].join('\n\n');
  const parameters = listParameters(document, operation);
  // The guide explains ETags once, for all reads and for all posts.
  const others = parameters.filter(
    ({ name, in: place }) => place !== 'path' && !/^If-(?:None-)?Match$/.test(name),
  );
  const [good = [], errors = []] = [false, true].map((wanted) =>
    Object.entries(responses).filter(
      // The guide explains the 202 of all posts once.
      ([status, response]) =>
        isError(status) === wanted &&
        !['default', '304'].includes(status) &&
        !('$ref' in response && response.$ref.endsWith('Here')),
    ),
  );
  const own = errors
    .map(([status]) => status)
    .filter((status) => !title.startsWith('GET') || !ofReads.has(status));
  const command = formatCommand(title, route.replace(/.* /, ''), operation, parameters);
  const example = written.includes(command) ? '[An example](#three-requests).' : formatBlock(command, '{}\n');
  return [
    ...head,
    ...(others.length === 0 ? [] : formatParameters(others, document.components.schemas)),
    ...good.map(([status, response]) => {
      const { responses } = document.components;
      const described = '$ref' in response ? responses[response.$ref.replace(/.*\//, '')] : response;
      return `**${status}** ${described?.description ?? ''}`;
    }),
    ...(own.length === 0 ? [] : [`[Errors](#errors): ${own.join(', ')}.`]),
    example,
    '</details>\n',
  ].join('\n\n');
}

/** The errors that every read can have: the guide names them once. */
const ofReads: ReadonlySet<string> = new Set(['400', '405', '406', '429', '503']);

/**
 * Returns the parameters as a table, and below it what their descriptions have after the first sentence. The column of
 * defaults has what follows “Without it, ” there.
 */
function formatParameters(
  parameters: readonly Parameter[],
  schemas: ApiDocument['components']['schemas'],
): string[] {
  const rows: string[][] = [];
  const notes: string[] = [];
  for (const { name, in: place, description, example, schema } of parameters) {
    const { $ref = '', type } = schema.items ?? schema;
    const kind = $ref.replace(/.*\//, '');
    const { examples = [], enum: values = [] } = schemas[kind] ?? schema;
    const value = example ?? examples[0] ?? values[0] ?? (type === 'boolean' ? 'true' : undefined);
    const [unset = '', fallback = ''] = / Without it, (.+?)\.(?= |$)/.exec(description) ?? [];
    const [meaning = '', ...more] = description.replace(unset, '').split(/(?<=\.) /);
    if (more.length > 0) notes.push(`- \`${name}\`: ${more.join(' ')}`);
    rows.push([
      `\`${name}\`${place === 'header' ? ' (a header)' : ''}`,
      meaning,
      type ?? kind.toLowerCase(),
      fallback,
      value === undefined ? '' : `\`${value}\``,
    ]);
  }
  const head = ['Parameter', 'Meaning', 'Type', 'Default', 'Example'];
  const table = [head, head.map(() => '---'), ...rows]
    .map((row) => row.filter((_, column) => rows.some((each) => each[column] !== '')))
    .map((row) => `| ${row.join(' | ')} |`);
  return [table.join('\n'), ...(notes.length === 0 ? [] : [notes.join('\n')])];
}

function formatCommand(
  title: string,
  path: string,
  { requestBody }: Operation,
  parameters: readonly Parameter[],
): string {
  const missing = parameters.find((parameter) => parameter.in === 'path' && parameter.example === undefined);
  if (missing !== undefined)
    throw new Error(
      `${title}: give its parameter ${missing.name} an example in the OpenAPI document, then ${advice}`,
    );
  const at = path.replaceAll(/\{(\w+)\}/g, (_, name) =>
    String(parameters.find((p) => p.name === name)?.example),
  );
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.example !== undefined)
    .map(({ name, example }) => `${name}=${example}`)
    .join('&');
  const address = query === '' ? `localhost:8080${at}` : `'localhost:8080${at}?${query}'`;
  const [[type, { example: body }] = ['', {}]] = Object.entries(requestBody?.content ?? {});
  if (body === undefined) return `curl ${address}`;
  const data = typeof body === 'string' ? body : JSON.stringify(body);
  const method = title.startsWith('PUT ') ? '-X PUT ' : '';
  return `curl ${method}${address} \\\n    -H "Authorization: $token" -H 'Content-Type: ${type}' -d '${data}'`;
}

/** The fix if the guide and the service differ. */
export const advice = 'run "npm run api-guide"';

function formatBlock(command: string, output: string): string {
  return `\`\`\`console\n$ ${command}\n${output}\`\`\``;
}

function isError(status: string): boolean {
  return Number(status) >= 400;
}

/** Prints JSON: what fits into a line on one, the first item of a longer list, and long texts with … in place of their rest. */
export function formatJson(value: unknown, indent = ''): string {
  if (typeof value === 'string') {
    const shown = value.slice(0, maxTextLength).split('\n', 1).join('');
    return JSON.stringify(shown === value ? value : `${shown}…`);
  }
  const text = JSON.stringify(value);
  if (typeof value !== 'object' || value === null || text.length + indent.length <= maxLineLength)
    return text;
  const inner = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.slice(0, 1).map((item) => inner + formatJson(item, inner))
    : Object.entries(value).map(
        ([key, item]) => `${inner}${JSON.stringify(key)}: ${formatJson(item, inner)}`,
      );
  if (Array.isArray(value) && value.length > 1) parts.push(`${inner}…`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return `${open}\n${parts.join(',\n')}\n${indent}${close}`;
}

const maxLineLength = 100;
const maxTextLength = 150;
