import type { VNode } from 'preact';
import { toSettings } from '../../src/catalogue/settings/settings.ts';
import { silentLog } from '../../src/lib/log.ts';
import { Languages } from '../../src/site/language/languages.ts';
import { provideLanguage } from '../../src/site/language/page-language.tsx';

/** The languages of the interface as they are shipped. */
export const testLanguages = new Languages(silentLog, () => toSettings());

/** A component as a visitor sees it who reads English. */
export function inEnglish(component: VNode): VNode {
  return provideLanguage(testLanguages.choose(undefined, 'en'), component);
}
