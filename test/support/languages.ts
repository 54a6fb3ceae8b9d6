import type { VNode } from 'preact';
import { toSettings } from '../../src/catalogue/settings/settings.ts';
import { silentLog } from '../../src/lib/log.ts';
import { Languages } from '../../src/site/language/languages.ts';
import { providePage, type Site, type Visit } from '../../src/site/page/page-context.tsx';

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

/** A component as a visitor sees it who reads English, or as part of another visit. */
export function inEnglish(component: VNode, visit: Partial<Visit> = {}): VNode {
  const language = testLanguages.choose(undefined, 'en');
  return providePage({ site: testSite, viewer: null, ...visit }, language, component);
}
