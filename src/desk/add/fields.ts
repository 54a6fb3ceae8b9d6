import { type PageData, parsePage, trimMarkdown } from '../../catalogue/page/page.ts';
import type { MessageKey } from '../../site/language/messages.tsx';

/** A field of a form. Its label is the message `field.<name>`. */
export interface FormField {
  readonly name: FieldName;
  readonly kind:
    | 'id'
    | 'language'
    | 'text'
    | 'link'
    | 'ids'
    | 'bots'
    | 'links'
    | 'lines'
    | 'page'
    | 'switch'
    | 'category';
  /** The message for an invalid value. */
  readonly fault: Extract<MessageKey, `fault.${string}`>;
  readonly hint?: Extract<MessageKey, `hint.${string}`>;
  readonly required?: boolean;
  /** The key of the front matter that contains the field; left out for a top-level field. */
  readonly parent?: string;
  /** The key of the field, if it is not its name. An empty field is left out of the front matter. */
  readonly key?: string;
}

export type FieldName = MessageKey extends infer Key
  ? Key extends `field.${infer Name}`
    ? Name
    : never
  : never;

/** The text of each field as sent. A checkbox that is off is missing. */
export type FieldTexts = Readonly<Partial<Record<FieldName, string>>>;

const link = { kind: 'link', fault: 'fault.link' } as const;
const repository = { kind: 'text', fault: 'fault.repository', parent: 'codehost' } as const;
const toggle = { kind: 'switch', fault: 'fault.file' } as const;

const fields: Readonly<Record<FieldName, Omit<FormField, 'name'>>> = {
  id: { kind: 'id', required: true, fault: 'fault.id', hint: 'hint.id' },
  locale: { kind: 'language', required: true, fault: 'fault.locale' },
  collection: { kind: 'id', required: true, fault: 'fault.collection', hint: 'hint.collection' },
  name: { kind: 'text', required: true, fault: 'fault.name' },
  title: { kind: 'text', required: true, fault: 'fault.title' },
  description: { kind: 'text', required: true, fault: 'fault.description', hint: 'hint.description' },
  category: { kind: 'category', required: true, fault: 'fault.category' },
  bots: { kind: 'bots', required: true, fault: 'fault.bots', hint: 'hint.bots' },
  authors: { kind: 'ids', required: true, fault: 'fault.authors', hint: 'hint.authors' },
  invite: { ...link, required: true, hint: 'hint.invite' },
  website: link,
  support: link,
  owner: repository,
  repo: repository,
  avatar: { ...link, parent: 'images', hint: 'hint.avatar' },
  cover: { ...link, parent: 'images', hint: 'hint.cover' },
  preview: { kind: 'links', fault: 'fault.preview', parent: 'images', hint: 'hint.preview' },
  prefix: { kind: 'lines', fault: 'fault.prefix', parent: 'trigger', hint: 'hint.prefix' },
  customisable: { ...toggle, parent: 'trigger' },
  mentionable: { ...toggle, parent: 'trigger' },
  nsfw: toggle,
  page: { kind: 'page', fault: 'fault.tooLong', hint: 'hint.page' },
};

/** The fields of a form in order, in groups. */
export type FieldGroups = readonly (readonly FormField[])[];

export const languageFields = listGroups('locale');
const basics = 'invite, name category, description';
const others =
  'authors, website support, avatar cover, preview, owner repo, prefix, customisable mentionable nsfw, page';
export const mainFields = listGroups(`${basics}, ${others}`);
export const newBotFields = listGroups(`${basics}, id locale, ${others}`);
export const collectionFields: FieldGroups = [
  ...listGroups('title, description, bots'),
  [{ name: 'page', kind: 'page', fault: 'fault.tooLong' }],
];

/** A part of a form: the groups of visible fields, and those that few bots need. */
export interface FormStep {
  readonly name: 'basics' | 'links' | 'page';
  readonly groups: FieldGroups;
  readonly folded: FieldGroups;
}

/** Returns the steps of a form: three for the main page of a bot, otherwise one. */
export function listSteps(groups: FieldGroups): FormStep[] {
  const begin = (name: FieldName): number => groups.findIndex(([field]) => field?.name === name);
  const [links, folded, page] = [begin('website'), begin('owner'), begin('page')];
  if (folded === -1) return [{ name: 'basics', groups, folded: [] }];
  return [
    { name: 'basics', groups: groups.slice(0, links), folded: [] },
    { name: 'links', groups: groups.slice(links, folded), folded: groups.slice(folded, page) },
    { name: 'page', groups: groups.slice(page), folded: [] },
  ];
}

/** Returns the fields of a profile. @param locale the language of its description */
export function listProfileFields(locale = ''): FieldGroups {
  const described = { ...fields.description, required: false, parent: 'description', key: locale };
  const name: FormField = { name: 'name', ...fields.name, fault: 'fault.ownName' };
  return [[name], ...listGroups('website'), [{ name: 'description', ...described }]];
}

/** Returns the fields with these names, in groups separated by commas. */
export function listGroups(groups: string): FieldGroups {
  const names = groups.split(', ').map((group) => group.split(' ') as FieldName[]);
  return names.map((group) => group.map((name) => ({ name, ...fields[name] })));
}

/** Returns the path of keys to a field's value in the front matter; empty for the id, the language and the page. */
export function findPlace({ name, kind, parent, key = name }: FormField): readonly string[] {
  if (kind === 'id' || kind === 'language' || kind === 'page') return [];
  return parent === undefined ? [key] : [parent, key];
}

/** A value of the front matter that a field can edit. */
type FieldValue = string | null | boolean | readonly string[];

/** Parses the text of a field. An empty optional field becomes null. */
export function parseValue({ name, kind, required = false }: FormField, texts: FieldTexts): FieldValue {
  const text = texts[name] ?? '';
  switch (kind) {
    case 'switch':
      return texts[name] !== undefined;
    case 'ids':
    case 'bots':
      return splitWords(text);
    case 'links':
      return split(text, linkEnds).map(toLink);
    // A prefix may end with a space.
    case 'lines':
      return split(text.trimStart(), /[\n\r]\s*/);
    case 'page':
      return trimMarkdown(text);
    case 'link':
      return toLink(text.trim()) || (required ? '' : null);
    default:
      return text.trim() || (required ? '' : null);
  }
}

/** Formats a value of the front matter as a field's text; undefined if it has no value. */
export function formatValue(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.filter((entry) => typeof entry === 'string').join('\n');
  if (value === true) return 'true';
  return typeof value === 'string' ? value : undefined;
}

/** Returns the texts of the fields in a file; undefined if it cannot be parsed. */
export function readFieldTexts(path: string, text: string, groups: FieldGroups): FieldTexts | undefined {
  const { page } = parsePage('', Buffer.from(path.endsWith('.json') ? toFrontMatter(text) : text));
  if (page === undefined) return undefined;
  const texts = groups.flat().map((field) => {
    const value = findPlace(field).reduce<unknown>(
      (inner, key) => (inner as PageData | undefined)?.[key],
      page.data,
    );
    return [field.name, field.kind === 'page' ? page.page : formatValue(value)] as const;
  });
  return Object.fromEntries(texts.filter(([, value]) => value !== undefined));
}

/** Returns JSON as the front matter of a file without text. */
export function toFrontMatter(json: string): string {
  return `---\n${json.trim()}\n---\n`;
}

/** Adds `https://` to links where only that is missing. */
export function withSchemes(groups: FieldGroups, texts: FieldTexts): FieldTexts {
  const links = groups.flat().flatMap((field) => {
    const value = field.kind === 'link' || field.kind === 'links' ? parseValue(field, texts) : null;
    return value === null ? [] : [[field.name, formatValue(value)] as const];
  });
  return { ...texts, ...Object.fromEntries(links) };
}

/** Adds `https://` to a text that begins with the name of a host, such as example.org/invite. */
function toLink(text: string): string {
  return /^[^\s/:@.]+(?:\.[^\s/:@.]+)+(?::\d+)?(?:[/?#]|$)/.test(text) ? `https://${text}` : text;
}

/** Splits a text into words, separated by commas or blanks. There may be more than a list allows. */
export function splitWords(text: string): string[] {
  return split(text, /[\s,]+/);
}

/** Links may contain commas: a comma separates links only before a blank or the next `https://`. */
const linkEnds = /,?(?:\s+|$)|,(?=https?:\/\/)/i;

function split(text: string, ends: RegExp): string[] {
  return text.split(ends, maxEntries).filter((part) => part !== '');
}

/** Above the maximum of every list, so the schema still reports that a list is too long. */
const maxEntries = 100;
