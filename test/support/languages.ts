import type { VNode } from 'preact';
import { toSettings } from '../../src/catalogue/settings/settings.ts';
import { silentLog } from '../../src/lib/log.ts';
import { Languages } from '../../src/site/language/languages.ts';
import { provideLanguage } from '../../src/site/language/page-language.tsx';
import type { Site } from '../../src/site/page/layout.tsx';

/** The languages of the interface as they are shipped. */
export const testLanguages = new Languages(silentLog, () => toSettings());

/** The site of a service without settings. */
export const testSite: Site = {
  baseUrl: 'https://bots.example.org',
  canonicalUrl: 'https://bots.example.org',
  hasForms: true,
  settings: toSettings(),
  languages: testLanguages,
  login: false,
  repository: null,
  contact: null,
  live: false,
  demo: false,
};

/** A component as a visitor sees it who reads English. */
export function inEnglish(component: VNode): VNode {
  return provideLanguage(testLanguages.choose(undefined, 'en'), component);
}
