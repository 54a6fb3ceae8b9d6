import type { Context } from 'koa';
import { parseCollectionName } from '../../catalogue/page/collection.ts';
import { parsePagePath, pathOf } from '../../catalogue/page/layout.ts';
import { parsePageFile } from '../../catalogue/page/page-file.ts';
import { nothingBlocked } from '../../catalogue/settings/blocked.ts';
import { checkProposal } from '../../check/check-proposal.ts';
import type { Finding } from '../../check/check.ts';
import { parseQuery } from '../../http/query.ts';
import type { MessageKey } from '../language/message-file.ts';
import { editPath, translatePath, withParameter } from '../page/addresses.ts';
import type { SiteParts } from '../page/site-parts.ts';
import { peopleFolder } from '../../catalogue/page/profile.ts';
import { type FileTexts, findSubject } from '../../proposals/subject.ts';
import { type FieldName, type FieldTexts, findPlace } from './fields.ts';
import { type FormFile, toFrontMatter } from './form-file.ts';
import { profileFormPath } from './side-forms.ts';
import { type Form, readFieldTexts } from './forms.ts';

/** A text of the interface that says what happened to a form. */
export interface FormMessage {
  readonly key: MessageKey;
  readonly values?: Readonly<Record<string, string | number>>;
}

/** A form with what is filled in, and what happened to it. */
export interface FilledForm {
  readonly form: Form;
  readonly texts: FieldTexts;
  /** The digest of the file that it was filled in with. */
  readonly base: string;
  /** What only the reviewers read. */
  readonly note: string;
  /** The fields that the page and a proposal have changed both, with what the page has now. */
  readonly conflicts: ReadonlyMap<FieldName, string>;
  /** Whether the form was sent, so that its errors are shown. */
  readonly isSent: boolean;
  readonly message: FormMessage | null;
}

/** Returns the path of the form that a file was proposed with, filled in with it. @param before all files as they are */
export function toEditAgainPath(path: string, before: FileTexts): string {
  return withParameter(toFormPath(path, before), proposalParameter, path);
}

function toFormPath(path: string, before: FileTexts): string {
  const [top, name = ''] = path.split('/');
  if (top === peopleFolder) return profileFormPath;
  const place = parsePagePath(path);
  const { name: collection, locale } = parseCollectionName(name) ?? {};
  if (before.size === 0) return place ? '/add' : '/add/collection';
  if (place) return before.has(path) ? editPath(place.id, place.locale) : translatePath(place.id);
  return `/collections/${collection}/${before.has(path) ? `edit?language=${locale}` : 'translate'}`;
}

/** The parameter of a form that names a proposed page. */
const proposalParameter = 'proposal';

/** Fills in a form: with what the viewer has proposed for the page that the address names, or with what the page has. */
export async function fillInForm(
  ctx: Context,
  { proposals, viewerOf }: SiteParts,
  form: Form,
): Promise<FilledForm> {
  const asListed = { note: '', conflicts: new Map(), isSent: false, message: null };
  const filled: FilledForm = { form, texts: form.texts, base: form.base, ...asListed };
  const path = parseQuery(ctx).get(proposalParameter) ?? '';
  const subject = findSubject(path);
  const viewer = subject && (await viewerOf(ctx));
  if (!subject || !proposals || !viewer) return filled;
  const proposal = proposals.findLast(subject, viewer.id);
  if (proposal === undefined || (form.listed !== undefined && form.listed.id !== subject)) return filled;
  const { changed, sent, conflicts, steps } = await proposals.read(proposal);
  const text = changed.get(path) ?? sent.get(path) ?? '';
  const texts = readFieldTexts(path.endsWith('.json') ? toFrontMatter(text) : text, form.groups);
  if (texts === undefined) return filled;
  const both = form.groups.flat().filter((field) => {
    const key = findPlace(field)[0] ?? field.name;
    const isChanged = conflicts.includes(key) || conflicts.includes('file');
    return isChanged && form.kind === 'edit' && texts[field.name] !== form.texts[field.name];
  });
  return {
    ...filled,
    form: { ...form, action: withParameter(form.action, proposalParameter, path) },
    texts: { ...form.texts, ...texts, ...readPlaceTexts(path) },
    note: steps.find(({ state }) => state === 'waiting')?.text ?? '',
    conflicts: new Map(both.map(({ name }) => [name, form.texts[name] ?? ''])),
  };
}

/** Returns the fields that the path of a file is made of. */
function readPlaceTexts(path: string): FieldTexts {
  const place = parsePagePath(path);
  if (place) return { ...place };
  const { name: collection, locale } = parseCollectionName(path.replace(/.*\//, '')) ?? {};
  return collection === undefined ? {} : { collection, ...(locale && { locale }) };
}

/**
 * Checks the change that a form makes to a bot, as reviewers will see it.
 * @param showsReasons whether it says why something is blocked
 */
export function checkForm(
  { bots, readFile, site, blocked }: SiteParts,
  { path = '', text }: FormFile,
  showsReasons: boolean,
): readonly Finding[] {
  const place = parsePagePath(path);
  if (place === undefined) return [];
  const { id } = place;
  const files = bots.get(id)?.files ?? [];
  const before = files.flatMap(({ locale, main }) => {
    const former = main || locale === place.locale ? readFile(pathOf(id, locale)) : undefined;
    return former === undefined ? [] : [parsePageFile({ id, locale }, Buffer.from(former))];
  });
  const others = before.filter(({ locale }) => locale !== place.locale);
  const after = [...others, parsePageFile(place, Buffer.from(text))];
  return checkProposal(before, after, site.settings, blocked() ?? nothingBlocked, showsReasons);
}
