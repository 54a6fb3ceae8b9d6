import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { canonicalLocale, type Locale } from '../../bot/locale.ts';

/** The folder of the files of the interface, one for each language. */
export const localesFolder = fileURLToPath(new URL('./locales', import.meta.resolve('#package')));

/** Returns the languages that the interface has, in the order of their tags. */
export function interfaceLocales(): Locale[] {
  return readdirSync(localesFolder)
    .toSorted()
    .flatMap((name) => canonicalLocale(name.replace(/\.json$/, '')) ?? []);
}
