import { toCanonicalLocale } from '../../bot/locale.ts';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import type { FieldTexts } from './add-fields.ts';
import type { FieldFaults } from './field-faults.ts';
import type { FormEntry } from './form-entry.ts';
import type { Form } from './forms.ts';

/** Returns the entry of a form, with the faults of what the settings of the catalogue do not allow. */
export function limitEntry(
  { categories, languages }: Pick<CatalogueSettings, 'categories' | 'languages'>,
  { kind, entryOf }: Form,
  texts: FieldTexts,
): FormEntry {
  const entry = entryOf(texts);
  const { category } = entry.data;
  const isUnknown = typeof category === 'string' && !categories.includes(category);
  const locale =
    kind === 'add' || kind === 'translate' ? toCanonicalLocale(texts.locale?.trim() ?? '') : undefined;
  const isForeign = locale !== undefined && languages !== null && !languages.includes(locale);
  const faults: FieldFaults = {
    ...(isUnknown && { category: { key: 'fault.category' } }),
    ...(isForeign && { locale: { key: 'fault.language', values: { languages: languages.join(', ') } } }),
  };
  return { ...entry, faults: { ...faults, ...entry.faults } };
}
