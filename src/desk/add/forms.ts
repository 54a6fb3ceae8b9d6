import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { BotRecord } from '../../../schemas/types.ts';
import { toAsciiAddress } from '../../bot/address.ts';
import { type BotId, parseBotId } from '../../bot/id.ts';
import { assembleRecord, type FilledMainPage, listElement, noCachedImages } from '../../bot/record.ts';
import type { PreviewProps } from '../page/elements.tsx';
import { english, type Locale, toCanonicalLocale, findLanguages } from '../../bot/locale.ts';
import { readSchema } from '../../bot/schemas.ts';
import { validate } from '../../bot/validate.ts';
import type { AuthorIndex } from '../../catalogue/lists/authors.ts';
import { pathOf } from '../../catalogue/page/layout.ts';
import {
  toCanonicalForm,
  cutPage,
  formatMarkdown,
  type PageData,
  type ParsedPage,
  parsePage,
  withDefaults,
} from '../../catalogue/page/page.ts';
import { formatCollectionPath, parseCollectionName, peopleFolder } from '../../catalogue/page/side-file.ts';
import { type CatalogueSettings, chooseNewPageLanguage } from '../../catalogue/settings/settings.ts';
import { parseRecord, findKnownBot } from '../../catalogue/store/bot-index.ts';
import { ProblemError } from '../../http/problem.ts';
import type { ImageKind } from '../../images/store.ts';
import { setKeys } from '../../lib/json.ts';
import { countCharacters, withoutBidiControls } from '../../lib/text.ts';
import { type FileTexts, findSubject } from '../../proposals/proposal.ts';
import type { MessageKey } from '../../site/language/messages.tsx';
import type { PageLanguage } from '../../site/language/languages.ts';
import { profileFormPath, withParameter } from '../../site/page/addresses.ts';
import { listNamedAuthors } from '../../site/page/elements.tsx';
import type { Viewer } from '../../site/page/page-context.tsx';
import {
  collectionFields,
  type FieldGroups,
  type FieldName,
  type FieldTexts,
  findPlace,
  type FormField,
  languageFields,
  listGroups,
  listProfileFields,
  mainFields,
  newBotFields,
  parseValue,
  readFieldTexts,
  splitWords,
  toFrontMatter,
} from './fields.ts';
import type { DeskParts } from '../page/desk-parts.ts';

/** The parts of the service that forms depend on. */
export type FormParts = Pick<DeskParts, 'site' | 'bots' | 'collections' | 'readFile'>;

/** A request for a form: its subject, its viewer and their languages. */
export interface FormRequest {
  /** The bot, collection or account that the file is about; empty for a new one. */
  readonly subject: string;
  /** The language of the file to edit or translate; null for the main file. */
  readonly language: string | null;
  readonly viewer: Viewer | null;
  readonly messages: Pick<PageLanguage, 'locale' | 'languageName' | 'wanted'>;
}

/** A form: the kind of its file, its path and its title. */
export interface FormHead extends Pick<Form, 'kind' | 'mode' | 'title'> {
  readonly path: string;
}

const editProfile: FormHead = {
  kind: 'profile',
  mode: 'edit',
  path: profileFormPath,
  title: 'profile.title',
};

/** All forms. */
export const formHeads: readonly FormHead[] = [
  { kind: 'bot', mode: 'add', path: '/add', title: 'layout.add' },
  { kind: 'bot', mode: 'edit', path: '/bots/:id/edit', title: 'edit.title' },
  { kind: 'bot', mode: 'translate', path: '/bots/:id/translate', title: 'translate.title' },
  { kind: 'collection', mode: 'add', path: '/add/collection', title: 'collection.add' },
  { kind: 'collection', mode: 'edit', path: '/collections/:name/edit', title: 'edit.title' },
  { kind: 'collection', mode: 'translate', path: '/collections/:name/translate', title: 'translate.title' },
  editProfile,
];

/** The parameters with the language of the file to edit or translate; that of the main file without them. */
export const languageParameters = { add: 'language', edit: 'language', translate: 'from' } as const;

/** A kind of file that forms can create and change. */
interface FileKind {
  /** The field that identifies the subject of a file. */
  readonly key: 'id' | 'collection';
  /** The schema of the main file's front matter. */
  readonly schema: 'main-page' | 'collection' | 'profile';
  /** The fields of the main file. A new file also has the fields that form its path. */
  readonly mainFields: (isNew: boolean, locale: Locale | undefined) => FieldGroups;
  readonly translationFields: FieldGroups;
  /** Returns the path of a file; undefined for an invalid subject. */
  readonly toPath: (subject: string, locale: Locale) => string | undefined;
  readonly find: (parts: FormParts, request: FormRequest) => FormSubject;
  /** Finds faults that the schema and the path do not show. */
  readonly findFaults: (parts: FormParts, form: Form, texts: FieldTexts) => FieldFaults;
}

/** The subject of a form's file. */
interface FormSubject {
  /** The bot as listed; undefined for a new bot, and for other subjects. */
  readonly listed?: BotRecord | undefined;
  /** Undefined if the name is the title in the file. */
  readonly name?: string;
  /** The accounts that own the subject, on which the treatment of a proposal depends; null for a new bot. */
  readonly owners: readonly string[] | null;
  /** The languages of the subject; that of the main file comes first. */
  readonly locales: readonly Locale[];
  /** A new file without its fields, and the initial texts of these. */
  readonly source?: string;
  readonly texts?: FieldTexts;
}

const fileKinds: Readonly<Record<Form['kind'], FileKind>> = {
  bot: {
    key: 'id',
    schema: 'main-page',
    mainFields: (isNew) => (isNew ? newBotFields : mainFields),
    translationFields: listGroups('name, description, page'),
    toPath: (id, locale) => parseBotId(id) && pathOf(id as BotId, locale),
    find({ bots }, { subject, viewer }) {
      const source = `---\n{"created": ${Date.now()}}\n---\n`;
      const texts = viewer ? { authors: viewer.id } : {};
      if (subject === '') return { name: '', owners: null, locales: [], source, texts };
      const bot = findKnownBot(bots, subject);
      const { name, authors: owners, locales } = bot.facts;
      return { listed: parseRecord(bot), name, owners, locales };
    },
    findFaults({ bots }, form, { id = '', description = '' }) {
      const listed = form.mode === 'add' ? bots.get(id.trim() as BotId) : undefined;
      const values = { bot: withoutBidiControls(listed?.facts.name ?? '') };
      if (listed) return { id: { key: 'fault.listed', values, path: `/bots/${listed.id}` } };
      const isCopy = description.trim() !== '' && description.trim() === form.texts.description;
      return form.mode === 'translate' && isCopy ? { description: { key: 'fault.untranslated' } } : {};
    },
  },
  collection: {
    key: 'collection',
    schema: 'collection',
    mainFields: (isNew) => [...(isNew ? listGroups('collection locale') : []), ...collectionFields],
    translationFields: collectionFields.filter(([field]) => field?.name !== 'bots'),
    toPath: (name, locale) =>
      parseCollectionName(`${name}.${locale}.md`) && formatCollectionPath(name, locale),
    find: ({ collections }, { subject, viewer }) => ({
      owners: [],
      locales: [...(collections.all.get(subject)?.contents.keys() ?? [])],
      ...(subject === '' && viewer && { source: `---\n{"by": "${viewer.id}"}\n---\n` }),
    }),
    findFaults({ bots, collections }, { mode }, { collection = '', bots: ids = '' }) {
      const exists = mode === 'add' && collections.all.has(collection.trim());
      // Bots that are removed later are left out.
      const isUnlisted = splitWords(ids).some((id) => bots.get(id as BotId) === undefined);
      return {
        ...(exists && { collection: { key: 'fault.collectionExists' } }),
        ...(isUnlisted && { bots: { key: 'fault.unlisted' } }),
      };
    },
  },
  profile: {
    key: 'id',
    schema: 'profile',
    mainFields: (_isNew, locale) => listProfileFields(locale),
    translationFields: [],
    toPath: (account) => `${peopleFolder}/${account}.json`,
    find: (_parts, { subject, viewer, messages }) => {
      const { name = '' } = viewer ?? {};
      return { name, owners: [subject], locales: [messages.locale], source: '{}', texts: { name } };
    },
    findFaults: () => ({}),
  },
};

/** A form that creates or changes a file of the catalogue. */
export interface Form extends Pick<FormSubject, 'listed' | 'owners' | 'locales'> {
  readonly kind: 'bot' | 'collection' | 'profile';
  readonly mode: 'add' | 'edit' | 'translate';
  /** The path to which the form is sent. */
  readonly action: string;
  readonly groups: FieldGroups;
  /** The schema of the file's front matter. */
  readonly schema: FileKind['schema'] | 'translation';
  /** The title and the introduction of the page, and the name of the subject. */
  readonly title: MessageKey;
  readonly introduction: MessageKey;
  readonly name: string;
  /** The initial texts, including those that form the path of the file. */
  readonly texts: FieldTexts;
  /** The languages to choose from for a new page. */
  readonly languages: readonly Locale[];
  /** The text of the file to change; for a new file, its text without the fields. */
  readonly source: string;
  /** The digest of the file to change; empty for a new file. */
  readonly base: string;
}

/**
 * Returns the form that adds, edits or translates a file. The form that edits a profile also creates it.
 * @throws {BotshelfError} malformed-id, unknown-bot
 * @throws {ProblemError} not-found
 */
export function createForm(parts: FormParts, head: FormHead, request: FormRequest): Form {
  const { kind, mode: asked } = head;
  const row = fileKinds[kind];
  const { subject, language } = request;
  const { listed, owners, locales, ...found } = row.find(parts, request);
  const [main] = locales;
  const wanted = language === null ? main : toCanonicalLocale(language);
  const locale = locales.find((other) => other === wanted);
  if (locale === undefined && asked !== 'add')
    throw new ProblemError(
      'not-found',
      kind === 'bot'
        ? `this bot has no page in ${JSON.stringify(language?.slice(0, 60))}`
        : `there is no such ${kind}, or not in this language`,
    );
  const path = (locale && row.toPath(subject, locale)) ?? '';
  const text = asked === 'add' ? undefined : parts.readFile(path);
  const mode = kind === 'profile' && text === undefined ? 'add' : asked;
  const isMain = mode === 'add' || (mode === 'edit' && locale === main);
  const fields = isMain ? row.mainFields(mode === 'add', locale) : row.translationFields;
  const texts = mode === 'add' ? (found.texts ?? {}) : readFieldTexts(path, text ?? '', fields);
  if (texts === undefined)
    throw new ProblemError('not-found', `the file of this ${kind} cannot be read: edit it in the repository`);
  const { source = '---\n{}\n---\n' } = mode === 'edit' ? { source: text } : found;
  const { languages, proposed } = offerLanguages(parts.site.settings, request, locales);
  return {
    kind,
    mode,
    action: toFormPath(head, subject, locale === main ? undefined : locale),
    groups: [...(mode === 'translate' ? languageFields : []), ...fields],
    schema: kind === 'bot' && !isMain ? 'translation' : row.schema,
    title: head.title,
    introduction: kind === 'bot' ? `${mode}.introduction` : `${kind}.introduction`,
    name: found.name ?? texts.title ?? '',
    listed,
    owners,
    texts: { ...texts, [row.key]: subject, locale: (asked === 'edit' && locale) || proposed },
    languages,
    locales,
    source,
    base: mode === 'edit' ? hash('sha1', source, 'base64url') : '',
  };
}

function toFormPath({ path, mode }: FormHead, subject: string, locale: string | undefined): string {
  const own = path.replace(/:\w+/, subject);
  return locale ? withParameter(own, languageParameters[mode], locale) : own;
}

/**
 * Returns the path of the form that changes a proposed file. @param before all files before the change
 * @param botVersion the version of the proposal, if the bot itself sent it
 */
export function toEditAgainPath(path: string, before: FileTexts, botVersion?: string): string {
  const { kind, subject, locale } = parseFilePath(path);
  const isThere = before.has(path);
  const mode = isThere ? 'edit' : before.size === 0 ? 'add' : 'translate';
  const head = formHeads.find((one) => one.kind === kind && one.mode === mode) ?? editProfile;
  const form = toFormPath(head, subject, isThere ? locale : undefined);
  const again = withParameter(form, proposalParameter, path);
  return botVersion === undefined ? again : withParameter(again, botVersionParameter, botVersion);
}

/** The parameter with the version of the bot's own proposal that this form answers; sending it withdraws that proposal. */
export const botVersionParameter = 'sent';

/** The parameter with the path of a proposed file. */
export const proposalParameter = 'proposal';

/** Returns the texts of the fields that form the path of a file. */
export function readPlaceTexts(path: string): FieldTexts {
  const { kind, subject, locale } = parseFilePath(path);
  return { [fileKinds[kind].key]: subject, ...(locale !== undefined && { locale }) };
}

function parseFilePath(path: string): { kind: Form['kind']; subject: string; locale: string | undefined } {
  const about = findSubject(path) ?? '';
  const [, kind = 'bot', subject = about] = /^(profile|collection)-(.+)$/.exec(about) ?? [];
  return { kind: kind as Form['kind'], subject, locale: /\.([^.]+)\.md$/.exec(path)?.[1] };
}

/** The file of a form, in canonical form. */
export interface FormFile {
  /** Undefined while the id or the language is invalid. */
  readonly path: string | undefined;
  readonly text: string;
  /** The front matter of the file. */
  readonly data: PageData;
  /** The text below the front matter. */
  readonly page: string;
  readonly faults: FieldFaults;
  /** The required fields that are empty. */
  readonly missing: readonly FieldName[];
  /** Whether the file is valid and has changed. */
  readonly isReady: boolean;
}

/** The first fault of each field that has one. */
export type FieldFaults = Readonly<Partial<Record<FieldName, FieldFault>>>;

/** The problem with a field: a message and its values. */
export interface FieldFault {
  readonly key: Extract<MessageKey, `fault.${string}`>;
  readonly values?: Readonly<Record<string, string | number>>;
  /** The page to which the message's values link. */
  readonly path?: string;
}

/**
 * Builds the file of a form from its source and the values of its fields. In an existing file, only the keys of
 * changed fields are written; without a change, the bytes stay the same.
 */
export function makeFile(parts: FormParts, form: Form, texts: FieldTexts): FormFile {
  const { kind, mode, source } = form;
  const { categories, languages } = parts.site.settings;
  const { key, toPath, findFaults } = fileKinds[kind];
  const fields = form.groups.flat();
  const asksLanguage = fields.some(({ name }) => name === 'locale');
  const { [key]: subject = '', locale: tag = '' } = { ...form.texts, ...texts };
  const locale = toCanonicalLocale(tag.trim());
  const path = toPath(subject.trim(), locale ?? english);
  const filled = fillIn(form, fields, texts);
  const text = kind === 'profile' ? cutPage(filled).json : filled;
  const parsed = parsePage('', Buffer.from(filled));
  const { data = {}, page = '' } = parsed.page ?? {};
  const { category } = data;
  const isForeign = asksLanguage && locale && languages?.includes(locale) === false;
  const { authors, ...others }: FieldFaults = {
    ...(typeof category === 'string' &&
      !categories.includes(category) && { category: { key: 'fault.category' } }),
    ...(isForeign && { locale: { key: 'fault.language', values: { languages: languages.join(', ') } } }),
    ...findFieldFaults(parsed, form, fields),
    ...(asksLanguage && !locale && { locale: { key: 'fault.locale' } }),
    ...(mode === 'translate' &&
      locale &&
      form.locales.includes(locale) && { locale: { key: 'fault.hasLanguage' } }),
    ...(path === undefined && { [key]: { key: `fault.${key}` } }),
    ...findFaults(parts, form, texts),
  };
  const faults = authors && !lacksAuthor(form, texts) ? { ...others, authors } : others;
  const missing = fields.flatMap(({ name, required }) => (required && !texts[name]?.trim() ? [name] : []));
  const isReady = Object.keys(faults).length === 0 && text !== source;
  return { path: locale && path, text, data, page, faults, missing, isReady };
}

/** Returns whether the author of a new bot will be the account that logs in to send the form. */
export function lacksAuthor({ groups }: Pick<Form, 'groups'>, { authors = '' }: FieldTexts): boolean {
  const field = groups.flat().find(({ name }) => name === 'authors');
  return field?.required === false && authors.trim() === '';
}

/** An image that a form names. */
export interface FormImage {
  readonly field: FieldName;
  readonly kind: ImageKind;
  readonly url: string;
  /** The path of our copy; undefined without a copy. */
  readonly path?: string | undefined;
}

/** Returns the images that a form names by valid addresses. */
export function listImages({ groups }: Form, texts: FieldTexts, faults: FieldFaults): FormImage[] {
  return groups.flat().flatMap((field): FormImage[] => {
    const { name, parent } = field;
    if (parent !== 'images' || faults[name]) return [];
    const urls = [parseValue(field, texts) ?? []].flat() as string[];
    return urls.map((url) => ({ field: name, kind: name === 'avatar' ? 'avatar' : 'wide', url }));
  });
}

/** Returns the bot of a form for its preview. Empty texts are replaced by the labels of their fields. */
export function createPreview(
  { listed, schema, texts: first }: Form,
  typed: { readonly texts: FieldTexts; readonly file: FormFile; readonly images: readonly FormImage[] },
  { text, categories }: Pick<PageLanguage, 'text' | 'categories'>,
  index: AuthorIndex,
): PreviewProps['preview'] {
  const { texts, images } = typed;
  const { data, page } = typed.file;
  const { id = '', locale: tag = '' } = { ...first, ...texts };
  const locale = toCanonicalLocale(tag.trim()) ?? english;
  const name = String(data['name']) || text('field.name');
  const description = String(data['description']) || text('field.description');
  // A file that cannot be parsed has no data: its fault is shown at the page.
  const filled = withDefaults({ authors: [], ...listed, ...data }) as unknown as FilledMainPage;
  const category = categories.includes(filled.category) ? filled.category : 'other';
  const contents = new Map([[locale, { name, description, page }]]);
  const botId = parseBotId(listed?.id ?? id.trim()) ?? unknownId;
  const avatar = images.find(({ field }) => field === 'avatar')?.path ?? null;
  const cachedImages = schema === 'main-page' ? { ...noCachedImages, avatar } : listed?.cachedImages;
  const bot = listElement(assembleRecord(botId, { ...filled, category }, contents, cachedImages));
  return { bot, locale, authors: listNamedAuthors(index, bot.authors) };
}

/** Stands in for an invalid id. */
const unknownId = parseBotId('0') as BotId;

/** Sets the values of fields in a page file. Keeps the line ends of its markdown. */
function fillIn(form: Form, fields: readonly FormField[], texts: FieldTexts): string {
  const text = form.kind === 'profile' ? toFrontMatter(form.source) : form.source;
  const isChanged = (field: FormField): boolean =>
    form.mode !== 'edit' || !isDeepStrictEqual(parseValue(field, texts), parseValue(field, form.texts));
  const changed = fields.filter(isChanged);
  if (changed.length === 0) return text;
  const { data = {} } = parsePage('', Buffer.from(text)).page ?? {};
  const { before, json, after } = cutPage(text);
  const values: Record<string, unknown> = {};
  let body = after;
  for (const field of changed) {
    const [key, inner] = findPlace(field);
    const value = parseValue(field, texts);
    if (field.kind === 'page') body = formatMarkdown(String(value), after);
    else if (key !== undefined && inner === undefined) values[key] = value;
    else if (key !== undefined && inner !== undefined) {
      const { [inner]: _former, ...others } = (values[key] ?? data[key] ?? {}) as PageData;
      values[key] = value === null && field.key !== undefined ? others : { ...others, [inner]: value };
    }
  }
  return toCanonicalForm(before + setKeys(json, values) + body, fileKinds[form.kind].schema);
}

/** Checks the file of a form. Faults that belong to no field are reported at the page. */
function findFieldFaults(
  { page, faults }: ParsedPage,
  { schema, texts }: Pick<Form, 'schema' | 'texts'>,
  fields: readonly FormField[],
): FieldFaults {
  if (page === undefined) return { page: createFileFieldFault(faults[0]?.message ?? '') };
  const former = fields.map((field) => parseValue(field, texts));
  const all = validate(schema, page.data, null, former).map((fault): [FieldName, FieldFault] => {
    const field = fields.find((candidate) => {
      const place = findPlace(candidate);
      return place.length > 0 && place.every((key, i) => fault.place[i] === key);
    });
    if (field === undefined) return ['page', createFileFieldFault(fault.message)];
    const value = fault.place.reduce<unknown>((inner, key) => (inner as PageData)[key], page.data);
    if (typeof value !== 'string') return [field.name, { key: field.fault }];
    if (fault.keyword === 'address')
      return [field.name, { key: 'fault.address', values: { address: toAsciiAddress(value) ?? '' } }];
    const isLong = fault.keyword === 'maxLength' && field.kind === 'text' && fault.place.length === 1;
    return [field.name, isLong ? createLengthFault(field.name, value) : { key: field.fault }];
  });
  // Keeps the first of several faults of a field.
  return {
    ...Object.fromEntries(all.toReversed()),
    ...(validate('page', page.page).length > 0 && { page: createLengthFault('page', page.page) }),
  };
}

function createFileFieldFault(reason: string): FieldFault {
  return { key: 'fault.file', values: { reason } };
}

function createLengthFault(name: FieldName, text: string): FieldFault {
  const limit = limits[name]?.maxLength ?? 0;
  return { key: 'fault.tooLong', values: { count: countCharacters(text), limit } };
}

const limits = readSchema('definitions')['$defs'] as Partial<Record<string, { readonly maxLength?: number }>>;

/** Returns the languages to choose from for a new page, those of the reader first, and the initial choice. */
function offerLanguages(
  settings: CatalogueSettings,
  { messages }: FormRequest,
  existing: readonly Locale[],
): Pick<Form, 'languages'> & { readonly proposed: Locale | '' } {
  const free = (settings.languages ?? commonLanguages).filter((language) => !existing.includes(language));
  const others = messages.wanted.filter((range) => findLanguages([range], existing).length === 0);
  const own = findLanguages(others, free);
  const proposed = own[0] ?? (existing.length === 0 ? chooseNewPageLanguage(settings) : '');
  const { compare } = new Intl.Collator(messages.locale);
  const named = free.map((language) => ({ language, name: messages.languageName(language, free) }));
  const byName = named.toSorted((a, b) => compare(a.name, b.name)).map(({ language }) => language);
  const first = proposed === '' ? [] : [proposed];
  return { languages: [...new Set([...first, ...own, ...byName])], proposed };
}

/** The languages to choose from if the settings do not name any. A file may have any other. */
const commonLanguages = (
  'af am ar az be bg bn bs ca cs cy da de el en en-GB eo es es-419 et eu fa fi fil fr ga gl gu he hi hr hu hy id is ' +
  'it ja ka kk km kn ko lo lt lv mk ml mn mr ms my nb ne nl nn pa pl pt-BR pt-PT ro ru si sk sl sq sr sv sw ta te th ' +
  'tr uk ur uz vi zh-CN zh-TW'
).split(' ') as Locale[];
