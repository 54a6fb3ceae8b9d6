import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { toCanonicalLocale, type Locale } from '../../bot/locale.ts';

/** The folder of the files of the interface, one for each language. */
export const localesFolder = fileURLToPath(new URL('./locales', import.meta.resolve('#package')));

/** Returns the languages that the interface has, in the order of their tags. */
export function listInterfaceLocales(): Locale[] {
  return readdirSync(localesFolder)
    .toSorted()
    .flatMap((name) => toCanonicalLocale(name.replace(/\.json$/, '')) ?? []);
}
