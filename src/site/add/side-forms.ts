import { hash } from 'node:crypto';
import { type BotId, parseBotId } from '../../bot/id.ts';
import { type Locale, toCanonicalLocale } from '../../bot/locale.ts';
import {
  type Collection,
  formatCollectionPath,
  parseCollectionName,
} from '../../catalogue/page/collection.ts';
import { peopleFolder } from '../../catalogue/page/profile.ts';
import { ProblemError } from '../../http/problem.ts';
import type { Viewer } from '../page/layout.tsx';
import type { SiteParts } from '../page/site-parts.ts';
import {
  collectionFields,
  collectionPlaceFields,
  collectionTranslationFields,
  type FieldTexts,
  languageFields,
  listProfileFields,
} from './fields.ts';
import { type FieldFaults, toFrontMatter } from './form-file.ts';
import { type Form, type OfferedLanguages, readFieldTexts } from './forms.ts';

/** Returns the form for what an account is called. @param locale the language of its description */
export function createProfileForm(viewer: Viewer, locale: Locale, read: SiteParts['readFile']): Form {
  const path = `${peopleFolder}/${viewer.id}.json`;
  const json = read(path);
  const groups = listProfileFields(locale);
  const texts = json === undefined ? { name: viewer.name } : readFieldTexts(toFrontMatter(json), groups);
  return {
    kind: json === undefined ? 'add' : 'edit',
    action: profileFormPath,
    groups,
    schema: 'profile',
    title: 'profile.title',
    introduction: 'profile.introduction',
    name: viewer.name,
    listed: undefined,
    owners: [viewer.id],
    source: json ?? '{}',
    base: json === undefined ? '' : hash('sha1', json, 'base64url'),
    texts: { ...texts, locale },
    languages: [],
    toPath: () => path,
    findFaults: () => ({}),
  };
}

export const profileFormPath = '/my-bots/name';

type CollectionParts = Pick<SiteParts, 'bots' | 'collections' | 'readFile'>;

/** What all forms of collections have. */
const ofCollections = {
  schema: 'collection',
  introduction: 'collection.introduction',
  listed: undefined,
  owners: [],
  source: '---\n{}\n---\n',
  base: '',
} as const satisfies Partial<Form>;

/** Returns the path of a new collection; undefined where its name is wrong. */
function toNewPath(locale: Locale, { collection = '' }: FieldTexts): string | undefined {
  const place = parseCollectionName(`${collection.trim()}.${locale}.md`);
  return place && formatCollectionPath(place.name, locale);
}

/** Returns the form for a new collection. */
export function createCollectionForm(
  parts: CollectionParts,
  { languages, proposed }: OfferedLanguages,
): Form {
  return {
    ...ofCollections,
    kind: 'add',
    action: '/add/collection',
    groups: [...collectionPlaceFields, ...collectionFields],
    title: 'collection.add',
    name: '',
    texts: { locale: proposed },
    languages,
    toPath: toNewPath,
    findFaults: (locale, texts) => ({
      ...(toNewPath(locale ?? ('en' as Locale), texts) === undefined && {
        collection: { key: 'fault.collection' },
      }),
      ...(parts.collections.all.has(texts.collection?.trim() ?? '') && {
        collection: { key: 'fault.collectionExists' },
      }),
      ...findUnlisted(parts, texts),
    }),
  };
}

/**
 * Returns the form that edits a collection in a language; null for that of the file that has the bots.
 * @throws {ProblemError} not-found
 */
export function createCollectionEditForm(
  parts: CollectionParts,
  name: string,
  language: string | null,
): Form {
  const { collection, locale, source, texts } = readCollection(parts, name, language);
  const isMain = locale === collection.locale;
  return {
    ...ofCollections,
    kind: 'edit',
    action: `/collections/${name}/edit${isMain ? '' : `?language=${locale}`}`,
    groups: isMain ? collectionFields : collectionTranslationFields,
    title: 'edit.title',
    name: texts.title ?? '',
    texts: { ...texts, locale },
    languages: [],
    source,
    base: hash('sha1', source, 'base64url'),
    toPath: () => formatCollectionPath(name, locale),
    findFaults: (_locale, sent) => (isMain ? findUnlisted(parts, sent) : {}),
  };
}

/** Returns the form that adds a language to a collection. @throws {ProblemError} not-found */
export function createCollectionTranslationForm(
  parts: CollectionParts,
  name: string,
  offer: (existing: readonly Locale[]) => OfferedLanguages,
): Form {
  const { collection, texts } = readCollection(parts, name, null);
  const { title = '', description = '', page = '' } = texts;
  const existing = [...collection.contents.keys()];
  const { languages, proposed } = offer(existing);
  return {
    ...ofCollections,
    kind: 'translate',
    action: `/collections/${name}/translate`,
    groups: [...languageFields, ...collectionTranslationFields],
    title: 'translate.title',
    name: title,
    texts: { title, description, page, locale: proposed },
    languages,
    toPath: (locale) => formatCollectionPath(name, locale),
    findFaults: (locale) =>
      locale && existing.includes(locale) ? { locale: { key: 'fault.hasLanguage' } } : {},
  };
}

function readCollection(
  { collections, readFile }: CollectionParts,
  name: string,
  language: string | null,
): {
  readonly collection: Collection;
  readonly locale: Locale;
  readonly source: string;
  readonly texts: FieldTexts;
} {
  const collection = collections.all.get(name);
  const locale = language === null ? collection?.locale : toCanonicalLocale(language);
  if (!collection || !locale || !collection.contents.has(locale))
    throw new ProblemError('not-found', 'there is no such collection, or not in this language');
  const source = readFile(formatCollectionPath(name, locale)) ?? '';
  const texts = readFieldTexts(source, collectionFields);
  if (texts !== undefined) return { collection, locale, source, texts };
  throw new ProblemError(
    'not-found',
    'the file of this collection cannot be read: edit it in the repository',
  );
}

/** Finds bots that are not listed: those that are removed later are left out. */
function findUnlisted({ bots }: CollectionParts, { bots: ids = '' }: FieldTexts): FieldFaults {
  const isUnlisted = (id: string): boolean =>
    parseBotId(id) !== undefined && bots.get(id as BotId) === undefined;
  const unlisted = ids.split(/[\s,]+/).filter(isUnlisted);
  return unlisted.length === 0
    ? {}
    : { bots: { key: 'fault.unlisted', values: { ids: unlisted.slice(0, 30).join(', ') } } };
}
