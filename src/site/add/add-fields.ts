import type { MessageKey } from '../language/message-file.ts';

/** A field of the form. Its label is the message `field.<name>`. */
export interface AddField {
  readonly name: FieldName;
  readonly hint?: Extract<MessageKey, `hint.${string}`>;
  /** The message for a value that breaks a rule. */
  readonly fault: Extract<MessageKey, `fault.${string}`>;
  readonly kind: 'text' | 'link' | 'ids' | 'links' | 'lines' | 'page' | 'switch' | 'category' | 'language';
  readonly required?: boolean;
  readonly placeholder?: string;
  /** The keys that lead to the value in the front matter; none for the id, the language and the page. */
  readonly place?: readonly string[];
}

export type FieldName = MessageKey extends infer Key
  ? Key extends `field.${infer Name}`
    ? Name
    : never
  : never;

/** The text of each field as it was sent. A checkbox that is off is missing. */
export type FieldTexts = Readonly<Partial<Record<FieldName, string>>>;

const id: AddField = {
  name: 'id',
  kind: 'text',
  required: true,
  fault: 'fault.id',
  placeholder: '123456789012345678',
};
const locale: AddField = {
  name: 'locale',
  kind: 'language',
  required: true,
  fault: 'fault.locale',
};
const name: AddField = { name: 'name', kind: 'text', required: true, fault: 'fault.name', place: ['name'] };
const description: AddField = {
  name: 'description',
  kind: 'text',
  required: true,
  fault: 'fault.description',
  hint: 'hint.description',
  place: ['description'],
};
const page: AddField = { name: 'page', kind: 'page', fault: 'fault.tooLong', hint: 'hint.page' };

const mainGroups: readonly (readonly AddField[])[] = [
  [name],
  [description],
  [
    { name: 'category', kind: 'category', required: true, fault: 'fault.category', place: ['category'] },
    {
      name: 'authors',
      kind: 'ids',
      required: true,
      fault: 'fault.authors',
      hint: 'hint.authors',
      place: ['authors'],
    },
  ],
  [{ ...link('invite'), required: true, hint: 'hint.invite' }],
  [link('website'), link('support')],
  [createRepositoryField('owner'), createRepositoryField('repo')],
  [
    { ...link('avatar', 'images'), hint: 'hint.avatar' },
    { ...link('cover', 'images'), hint: 'hint.cover' },
  ],
  [
    {
      name: 'preview',
      kind: 'links',
      fault: 'fault.preview',
      hint: 'hint.preview',
      place: ['images', 'preview'],
    },
  ],
  [
    {
      name: 'prefix',
      kind: 'lines',
      fault: 'fault.prefix',
      hint: 'hint.prefix',
      place: ['trigger', 'prefix'],
    },
  ],
  [toggle('customisable', 'trigger'), toggle('mentionable', 'trigger'), toggle('nsfw')],
  [page],
];

/** The fields of each form in their order, in groups. */
export const fieldGroups = {
  add: [[id, locale], ...mainGroups],
  edit: mainGroups,
  translate: [[locale], [name], [description], [page]],
  'edit-translation': [[name], [description], [page]],
} as const satisfies Record<string, readonly (readonly AddField[])[]>;

/** What a form makes: a new bot, a changed main page, a new translation, a changed translation. */
export type FormKind = keyof typeof fieldGroups;

/** Returns the fields of a form, in their order. */
export function listFields(kind: FormKind): readonly AddField[] {
  return fieldGroups[kind].flat();
}

function link(name: FieldName, ...parents: readonly string[]): AddField {
  return { name, kind: 'link', fault: 'fault.link', placeholder: 'https://', place: [...parents, name] };
}

function createRepositoryField(name: FieldName): AddField {
  return { name, kind: 'text', fault: 'fault.repository', place: ['codehost', name] };
}

function toggle(name: FieldName, ...parents: readonly string[]): AddField {
  return { name, kind: 'switch', fault: 'fault.file', place: [...parents, name] };
}
