import {
  applyEdits,
  type Edit,
  findNodeAtLocation,
  type JSONPath,
  modify,
  type Node,
  parseTree,
} from 'jsonc-parser';

/** Returns a function from a path of keys and indices to the offset of its value in a JSON text; of its key with `atKey`. */
export function createLocator(text: string): (path: JSONPath, atKey?: boolean) => number {
  let root: Node | undefined;
  return (path, atKey = false) => {
    root ??= parseTree(text);
    const node = root && findNodeAtLocation(root, path);
    if (!node) return root?.offset ?? 0;
    return atKey ? (node.parent?.children?.[0]?.offset ?? node.offset) : node.offset;
  };
}

/**
 * Sets top-level keys of a JSON object and keeps every other byte of it. A key that is there keeps its
 * place; a new one goes to the end, indented as the first key is.
 * @throws {Error} when the text is not a JSON object
 */
export function setKeys(text: string, values: Readonly<Record<string, unknown>>): string {
  const root = parseTree(text);
  if (root?.type !== 'object') throw new Error('the text is not a JSON object: put the keys in { }');
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const [, lead = '', indent = ''] = /^\s*\{(?:[ \t]*(\r?\n)([ \t]*)")?/.exec(text) ?? [];
  const written = (value: unknown): string =>
    lead === ''
      ? JSON.stringify(value)
      : JSON.stringify(value, null, indent).replaceAll('\n', `${eol}${indent}`);
  const edits: Edit[] = [];
  const added: string[] = [];
  for (const [key, value] of Object.entries(values)) {
    const node = findNodeAtLocation(root, [key]);
    if (node) edits.push({ offset: node.offset, length: node.length, content: written(value) });
    else added.push(`${JSON.stringify(key)}:${lead === '' ? '' : ' '}${written(value)}`);
  }
  if (added.length > 0) edits.push(createInsertion(root, added, lead === '' ? '' : `${eol}${indent}`));
  return applyEdits(text, edits);
}

/**
 * Removes top-level keys of a JSON object and keeps every other byte of it; a key that is not there is fine.
 * @throws {Error} when the text is not a JSON object
 */
export function removeKeys(text: string, keys: readonly string[]): string {
  return keys.reduce((rest, key) => applyEdits(rest, modify(rest, [key], undefined, {})), text);
}

function createInsertion(root: Node, added: readonly string[], separator: string): Edit {
  const last = root.children?.at(-1);
  const offset = last ? last.offset + last.length : root.offset + 1;
  const list = added.join(`,${separator}`);
  return { offset, length: 0, content: `${last ? ',' : ''}${separator}${list}` };
}
