import { ok } from 'node:assert/strict';
import { parse } from 'parse5';
import type { DefaultTreeAdapterTypes } from 'parse5';
import type { Page, Visitor } from './visitor.ts';

/** Returns the fields of the form `form.add` of a page as a browser sends them, when nothing is typed. */
export function readFormFields(html: string): Record<string, string> {
  const fields: Record<string, string> = {};
  const visit = (node: DefaultTreeAdapterTypes.Node, isInForm: boolean): void => {
    const attributes = new Map('attrs' in node ? node.attrs.map(({ name, value }) => [name, value]) : []);
    const inForm = isInForm || attributes.get('class') === 'add';
    const name = attributes.get('name');
    if (inForm && name !== undefined) {
      const isOff = attributes.get('type') === 'checkbox' && !attributes.has('checked');
      if (node.nodeName === 'input' && !isOff) fields[name] = attributes.get('value') ?? '';
      if (node.nodeName === 'textarea') fields[name] = textOf(node);
      if (node.nodeName === 'select') fields[name] = selectedIn(node);
    }
    if ('childNodes' in node) for (const child of node.childNodes) visit(child, inForm);
  };
  visit(parse(html), false);
  return fields;
}

/** Presses the button that sends what the form of a page makes, with more filled in. */
export async function sendForm(
  visitor: Visitor,
  page: Page,
  more: Readonly<Record<string, string>>,
): Promise<Page> {
  const [, to] = /class="send"[^>]*formaction="([^"]*)"/i.exec(page.text) ?? [];
  ok(to !== undefined, 'nothing can be sent');
  return await visitor.press(page, to.replaceAll('&amp;', '&'), { ...readFormFields(page.text), ...more });
}

function textOf(node: DefaultTreeAdapterTypes.Node): string {
  if ('value' in node) return node.value;
  return 'childNodes' in node ? node.childNodes.map(textOf).join('') : '';
}

function selectedIn(node: DefaultTreeAdapterTypes.Node): string {
  const options = 'childNodes' in node ? node.childNodes : [];
  for (const option of options) {
    const attributes = new Map('attrs' in option ? option.attrs.map(({ name, value }) => [name, value]) : []);
    if (attributes.has('selected')) return attributes.get('value') ?? '';
  }
  return '';
}
