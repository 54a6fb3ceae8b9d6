import { basePathOf } from '../lib/base-url.ts';
import type { Catalogue } from '../catalogue/store/catalogue.ts';
import type { Config } from './config.ts';
import type { Origin } from '../git/origin.ts';
import type { Log } from '../lib/log.ts';
import { formPaths } from '../http/read-only.ts';
import { Languages } from '../site/language/languages.ts';
import type { Site } from '../site/page/layout.tsx';
import { createNamedLinks, createRepositoryLinks } from '../site/page/repository-links.ts';

/**
 * Returns what all pages share, with the settings of the catalogue as they are at each request.
 * @param origin the remote of the clone: the links to the repository are made from it where the settings name none
 */
export function createSite(
  { contact, demo, dev, login, baseUrl, readOnly }: Config,
  catalogue: Pick<Catalogue, 'settings'>,
  origin: Origin | null,
  log: Log,
): Site {
  const original = readOnly?.original ?? null;
  const basePath = basePathOf(baseUrl);
  const publicPath = (path: string): string =>
    (formPaths.test(path) ? (original ?? basePath) : basePath) + path;
  const derived = origin && createRepositoryLinks(origin);
  return {
    baseUrl,
    canonicalUrl: original ?? baseUrl,
    hasForms: readOnly === null || original !== null,
    languages: new Languages(log, () => catalogue.settings.current, publicPath),
    login: (login ?? demo ?? original) !== null,
    get repository() {
      const { repository } = catalogue.settings.current;
      return repository === null ? derived : createNamedLinks(repository);
    },
    live: dev,
    demo: demo !== null,
    get settings() {
      return catalogue.settings.current;
    },
    get contact() {
      return contact ?? catalogue.settings.current.contact;
    },
  };
}
