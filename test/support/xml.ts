import { SaxesParser } from 'saxes';

/** An element of a document, as a strict parser reads it. */
export interface XmlElement {
  /** With its prefix. */
  readonly name: string;
  readonly namespace: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: XmlElement[];
  /** The text directly in it. */
  text: string;
}

/** Parses a document. @throws {Error} when it is not well-formed */
export function parseXml(text: string): XmlElement {
  const parser = new SaxesParser({ xmlns: true });
  const root: XmlElement = { name: '', namespace: '', attributes: {}, children: [], text: '' };
  const open = [root];
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, uri, attributes }) => {
    const values = Object.entries(attributes).map(([key, { value }]) => [key, value] as const);
    const child = { name, namespace: uri, attributes: Object.fromEntries(values), children: [], text: '' };
    open.at(-1)?.children.push(child);
    open.push(child);
  });
  parser.on('text', (piece) => {
    const element = open.at(-1);
    if (element) element.text += piece;
  });
  parser.on('closetag', () => void open.pop());
  parser.write(text).close();
  const [top] = root.children;
  if (top === undefined) throw new Error('the document is empty');
  return top;
}

/** The children of a name. */
export function childrenOf({ children }: XmlElement, name: string): XmlElement[] {
  return children.filter((child) => child.name === name);
}

/** The texts of the children of a name. */
export function textsOf(element: XmlElement, name: string): string[] {
  return childrenOf(element, name).map(({ text }) => text);
}
