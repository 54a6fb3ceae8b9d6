import { categoryNames, messages } from '../page/messages.ts';

/** A field of the form that creates a bot's file. */
export interface AddField {
  readonly name: FieldName;
  readonly label: string;
  readonly hint?: string;
  readonly kind:
    | 'text'
    | 'lines'
    | 'page'
    | 'switch'
    | { readonly options: Readonly<Record<string, string>> };
  readonly required?: boolean;
  readonly placeholder?: string;
}

export type FieldName = keyof typeof messages.fields;

/** The text of each field as it was sent. A checkbox that is off is missing. */
export type FieldTexts = Readonly<Partial<Record<FieldName, string>>>;

const { fields: labels, hints } = messages;

/** The fields in the order of the form, in groups. */
export const addFields: readonly (readonly AddField[])[] = [
  [
    { ...text('id'), placeholder: '123456789012345678' },
    { ...text('locale'), placeholder: 'en' },
  ],
  [{ ...text('name') }],
  [{ ...text('description') }],
  [
    {
      name: 'category',
      label: labels.category,
      kind: { options: { '': '', ...categoryNames } },
      required: true,
    },
    text('authors'),
  ],
  [{ ...text('invite'), placeholder: 'https://' }],
  [optional('website', 'https://'), optional('support', 'https://')],
  [optional('owner'), optional('repo')],
  [optional('avatar', 'https://'), optional('cover', 'https://')],
  [{ name: 'preview', label: labels.preview, hint: hints.preview, kind: 'lines' }],
  [{ name: 'prefix', label: labels.prefix, hint: hints.prefix, kind: 'lines' }],
  [toggle('customisable'), toggle('mentionable'), toggle('nsfw')],
  [{ name: 'page', label: labels.page, hint: hints.page, kind: 'page' }],
];

function text(name: FieldName): AddField {
  const hint = (hints as Partial<Record<FieldName, string>>)[name];
  return { name, label: labels[name], kind: 'text', required: true, ...(hint !== undefined && { hint }) };
}

function optional(name: FieldName, placeholder?: string): AddField {
  return { ...text(name), required: false, ...(placeholder !== undefined && { placeholder }) };
}

function toggle(name: FieldName): AddField {
  return { name, label: labels[name], kind: 'switch' };
}
