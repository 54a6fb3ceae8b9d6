/** The parts of the OpenAPI document that `docs/api.md` has. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly responses: Readonly<Record<string, { readonly description: string }>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
}

interface Operation {
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: { readonly content: { 'application/json': { readonly example?: unknown } } };
  readonly responses: Readonly<Record<string, { readonly description?: string }>>;
}

interface Reference {
  readonly $ref: string;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description: string;
  readonly example?: string;
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
 * @param commands the command that shows each error, by its status
 */
export function fillGuide(
  guide: string,
  document: ApiDocument,
  commands: Readonly<Record<string, string>>,
): string {
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      formatRoute(
        `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
        path,
        operation,
        listParameters(document, operation),
      ),
    ),
  );
  const statuses = new Set(
    Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ responses }) => Object.keys(responses).filter(isError)),
    ),
  );
  const errors = [...statuses].toSorted().map((status) => {
    const command = commands[status];
    if (command === undefined)
      throw new Error(
        `no request is known for status ${status}: add one to test/process/api-documents.test.ts`,
      );
    const meaning = document.components.responses[`Problem${status}`]?.description ?? '';
    const [first = '', ...rest] = meaning.split(/(?<=\.) /);
    const summary = `<b>${status}</b> ${formatHtml(first)}`;
    return formatExample(summary, command, rest.join(' '));
  });
  return replacePart(replacePart(guide, 'routes', routes.join('\n')), 'errors', errors.join('\n'));
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

function formatRoute(
  title: string,
  path: string,
  operation: Operation,
  parameters: readonly Parameter[],
): string {
  const { summary, description = '', responses } = operation;
  // The guide explains ETags once, for all reads.
  const others = parameters.filter(({ name, in: place }) => place !== 'path' && name !== 'If-None-Match');
  const [good, errors] = [false, true].map((wanted) =>
    Object.entries(responses).filter(
      ([status]) => isError(status) === wanted && status !== 'default' && status !== '304',
    ),
  );
  const takes = others.map(
    ({ name, in: place, description: text }) =>
      `- \`${name}\`${place === 'header' ? ' (a header)' : ''}: ${text}`,
  );
  const returns = (good ?? []).map(([status, { description: text = '' }]) => `- **${status}** ${text}`);
  const command = formatCommand(title, path, operation, parameters);
  return [
    `### \`${title}\``,
    `${summary}. ${description}`.trim(),
    ...(takes.length === 0 ? [] : ['Parameters, all optional:', takes.join('\n')]),
    'Responses:',
    returns.join('\n'),
    `[Errors](#errors): ${(errors ?? []).map(([status]) => status).join(', ')}.`,
    ...(description.startsWith('The same as') ? [] : [formatExample('An example', command, '')]),
  ].join('\n\n');
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
  const at = path.replaceAll(
    /\{(\w+)\}/g,
    (_, name) => parameters.find((p) => p.name === name)?.example ?? '',
  );
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.example !== undefined)
    .map(({ name, example }) => `${name}=${example}`)
    .join('&');
  const address = query === '' ? `localhost:8080${at}` : `'localhost:8080${at}?${query}'`;
  const body = requestBody?.content['application/json'].example;
  if (body === undefined) return `curl ${address}`;
  return `curl ${address} \\\n    -H "Authorization: $token" -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
}

/** What to do where the guide and the service differ. */
export const advice = 'run "npm run api-guide"';

function formatExample(summary: string, command: string, text: string): string {
  const lines = [
    '<details>',
    `<summary>${summary}</summary>`,
    '',
    formatBlock(command, '{}\n'),
    '',
    '</details>',
    '',
  ];
  return [...lines.slice(0, 3), ...(text === '' ? [] : [text, '']), ...lines.slice(3)].join('\n');
}

function formatBlock(command: string, output: string): string {
  return `\`\`\`console\n$ ${command}\n${output}\`\`\``;
}

function formatHtml(text: string): string {
  return text.replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function isError(status: string): boolean {
  return Number(status) >= 400;
}

/** Prints JSON: what fits into a line on one, long texts and lists and further lines with … in place of their rest. */
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
    ? value.slice(0, maxItems).map((item) => inner + formatJson(item, inner))
    : Object.entries(value).map(
        ([key, item]) => `${inner}${JSON.stringify(key)}: ${formatJson(item, inner)}`,
      );
  if (Array.isArray(value) && value.length > maxItems) parts.push(`${inner}…`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return `${open}\n${parts.join(',\n')}\n${indent}${close}`;
}

const maxLineLength = 100;
const maxTextLength = 150;
const maxItems = 2;
