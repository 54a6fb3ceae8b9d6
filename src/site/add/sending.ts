import type { Context } from 'koa';
import { type PagePlace, parsePagePath, pathOf } from '../../catalogue/page/layout.ts';
import { parsePageFile } from '../../catalogue/page/page-file.ts';
import type { IndexedBot } from '../../catalogue/store/bot-index.ts';
import { checkProposal } from '../../check/check-proposal.ts';
import type { Finding } from '../../check/check.ts';
import { parseQuery } from '../../http/query.ts';
import type { MessageKey } from '../language/message-file.ts';
import { editPath, translatePath, withParameter } from '../page/addresses.ts';
import type { SiteParts } from '../page/site-parts.ts';
import { type FieldName, type FieldTexts, findPlace } from './fields.ts';
import type { FormFile } from './form-file.ts';
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

/** Returns the path of the form that a page was proposed with, filled in with it. @param bot as listed; undefined for a new one */
export function toEditAgainPath(place: PagePlace, bot: IndexedBot | undefined): string {
  const { id, locale } = place;
  const file = bot?.files.find((indexed) => indexed.locale === locale);
  const language = file?.main === true ? undefined : locale;
  const path = bot === undefined ? '/add' : file === undefined ? translatePath(id) : editPath(id, language);
  return withParameter(path, proposalParameter, pathOf(id, locale));
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
  const place = parsePagePath(path);
  const viewer = place && (await viewerOf(ctx));
  if (!place || !proposals || !viewer) return filled;
  const { id, locale } = place;
  const proposal = proposals.findLast(id, viewer.id);
  if (proposal === undefined || (form.listed !== undefined && form.listed.id !== id)) return filled;
  const { changed, sent, conflicts, steps } = await proposals.read(proposal);
  const texts = readFieldTexts(changed.get(path) ?? sent.get(path) ?? '', form.groups);
  if (texts === undefined) return filled;
  const both = form.groups.flat().filter((field) => {
    const key = findPlace(field)[0] ?? field.name;
    const isChanged = conflicts.includes(key) || conflicts.includes('file');
    return isChanged && form.kind === 'edit' && texts[field.name] !== form.texts[field.name];
  });
  return {
    ...filled,
    form: { ...form, action: withParameter(form.action, proposalParameter, path) },
    texts: { ...texts, id, locale },
    note: steps.find(({ state }) => state === 'waiting')?.text ?? '',
    conflicts: new Map(both.map(({ name }) => [name, form.texts[name] ?? ''])),
  };
}

/** Checks the change that a form makes, as reviewers will see it. */
export function checkForm(
  { bots, readPage, site }: SiteParts,
  { path = '', text }: FormFile,
): readonly Finding[] {
  const place = parsePagePath(path);
  if (place === undefined) return [];
  const { id } = place;
  const files = bots.get(id)?.files ?? [];
  const before = files.flatMap(({ locale, main }) => {
    const former = main || locale === place.locale ? readPage({ id, locale }) : undefined;
    return former === undefined ? [] : [parsePageFile({ id, locale }, Buffer.from(former))];
  });
  const others = before.filter(({ locale }) => locale !== place.locale);
  return checkProposal(before, [...others, parsePageFile(place, Buffer.from(text))], site.settings);
}
