import { type DefaultTreeAdapterTypes, parse } from 'parse5';

/**
 * Returns what a document of a site refers to, as it is written there: in attributes, JSON, styles, scripts and robots.txt,
 * and every address that begins with `origin`, wherever it is.
 */
export function addressesIn(text: string, type: string, origin: string): string[] {
  const whole = text.split(/[\s"'<>)\\]+/).filter((word) => word.startsWith(origin));
  return [...whole, ...(readers.find(([known]) => type.includes(known))?.[1](text) ?? [])];
}

const readers: readonly (readonly [type: string, read: (text: string) => string[]])[] = [
  ['html', (text) => inNodes(parse(text).childNodes)],
  [
    'ndjson',
    (text) =>
      text
        .trim()
        .split('\n')
        .flatMap((line) => inJson(JSON.parse(line))),
  ],
  ['json', (text) => inJson(JSON.parse(text))],
  ['css', (text) => [...text.matchAll(/url\(["']?([^"')]+)/g)].map(([, address = '']) => address)],
  ['javascript', (text) => [...text.matchAll(/["'`](\/[\w/.-]+)["'`]/g)].map(([, path = '']) => path)],
  ['plain', (text) => [...text.matchAll(/^\w+: (\/.*)$/gm)].map(([, path = '']) => path)],
];

function inNodes(nodes: readonly DefaultTreeAdapterTypes.ChildNode[]): string[] {
  return nodes.flatMap((node) => {
    if (!('attrs' in node)) return [];
    const isData = node.attrs.some(({ value }) => value === 'application/ld+json');
    const [first] = node.childNodes;
    return [
      ...node.attrs.flatMap(({ name, value }) => inAttribute(name, value)),
      ...(isData && first && 'value' in first ? inJson(JSON.parse(first.value)) : []),
      ...inNodes(node.childNodes),
    ];
  });
}

function inAttribute(name: string, value: string): string[] {
  if (name === 'srcset') return value.split(',').map((part) => part.trim().split(' ')[0] ?? '');
  if (name === 'style') return [...value.matchAll(/url\(["']?([^"')]+)/g)].map(([, address = '']) => address);
  return ['href', 'src', 'action', 'formaction'].includes(name) || /^(?:\/|https?:)/.test(value)
    ? [value]
    : [];
}

function inJson(value: unknown): string[] {
  if (typeof value === 'string') return value.startsWith('/') ? [value] : [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(inJson) : [];
}
