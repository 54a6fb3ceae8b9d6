import { readSchema } from '../../bot/schemas.ts';
import type { ParsedPage } from '../../catalogue/page/page.ts';
import { type SchemaFault, validate } from '../../catalogue/page/schema.ts';
import type { MessageKey } from '../language/message-file.ts';
import type { AddField, FieldName } from './add-fields.ts';

/** What is wrong with a field: a message and what fills it in. */
export interface FieldFault {
  readonly key: Extract<MessageKey, `fault.${string}`>;
  readonly values?: Readonly<Record<string, string | number>>;
  /** The page that its values link to. */
  readonly path?: string;
}

/** The first fault of each field that has one. */
export type FieldFaults = Readonly<Partial<Record<FieldName, FieldFault>>>;

/** Checks the file that a form makes. What no field of the form has is reported at the page. */
export function findFieldFaults(
  { page, faults }: ParsedPage,
  schema: 'main-page' | 'translation',
  fields: readonly AddField[],
): FieldFaults {
  if (page === undefined) return { page: createFileFieldFault(faults[0]?.message ?? '') };
  const all = validate(schema, page.data).map((fault): [FieldName, FieldFault] => {
    const field = fields.find((candidate) => isAt(candidate, fault));
    if (field === undefined) return ['page', createFileFieldFault(fault.message)];
    const value = page.data[field.name];
    const isLong = fault.keyword === 'maxLength' && field.kind === 'text' && typeof value === 'string';
    return [field.name, isLong ? createLengthFault(field.name, value) : { key: field.fault }];
  });
  // Of several faults of a field the first is kept.
  return {
    ...Object.fromEntries(all.toReversed()),
    ...(validate('page', page.page).length > 0 && { page: createLengthFault('page', page.page) }),
  };
}

function isAt({ place = [] }: AddField, fault: SchemaFault): boolean {
  return place.length > 0 && place.every((key, i) => fault.place[i] === key);
}

function createFileFieldFault(reason: string): FieldFault {
  return { key: 'fault.file', values: { reason } };
}

function createLengthFault(name: FieldName, text: string): FieldFault {
  const limit = limits[name]?.maxLength ?? 0;
  return { key: 'fault.tooLong', values: { count: Array.from(text).length, limit } };
}

const limits = readSchema('definitions')['$defs'] as Partial<Record<string, { readonly maxLength?: number }>>;
