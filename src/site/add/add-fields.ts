import type { MessageKey } from '../language/message-file.ts';

/** A field of the form that creates a bot's file. Its label is the message `field.<name>`. */
export interface AddField {
  readonly name: FieldName;
  readonly hint?: Extract<MessageKey, `hint.${string}`>;
  readonly kind: 'text' | 'lines' | 'page' | 'switch' | 'category';
  readonly required?: boolean;
  readonly placeholder?: string;
}

export type FieldName = MessageKey extends infer Key
  ? Key extends `field.${infer Name}`
    ? Name
    : never
  : never;

/** The text of each field as it was sent. A checkbox that is off is missing. */
export type FieldTexts = Readonly<Partial<Record<FieldName, string>>>;

/** The fields in the order of the form, in groups. */
export const addFields: readonly (readonly AddField[])[] = [
  [
    { ...text('id'), placeholder: '123456789012345678' },
    { ...text('locale'), hint: 'hint.locale', placeholder: 'en' },
  ],
  [text('name')],
  [{ ...text('description'), hint: 'hint.description' }],
  [
    { name: 'category', kind: 'category', required: true },
    { ...text('authors'), hint: 'hint.authors' },
  ],
  [{ ...text('invite'), hint: 'hint.invite', placeholder: 'https://' }],
  [address('website'), address('support')],
  [optional('owner'), optional('repo')],
  [
    { ...address('avatar'), hint: 'hint.avatar' },
    { ...address('cover'), hint: 'hint.cover' },
  ],
  [{ name: 'preview', hint: 'hint.preview', kind: 'lines' }],
  [{ name: 'prefix', hint: 'hint.prefix', kind: 'lines' }],
  [toggle('customisable'), toggle('mentionable'), toggle('nsfw')],
  [{ name: 'page', hint: 'hint.page', kind: 'page' }],
];

function text(name: FieldName): AddField {
  return { name, kind: 'text', required: true };
}

function optional(name: FieldName): AddField {
  return { name, kind: 'text' };
}

function address(name: FieldName): AddField {
  return { ...optional(name), placeholder: 'https://' };
}

function toggle(name: FieldName): AddField {
  return { name, kind: 'switch' };
}
