import type { Context } from 'koa';
import { ProblemError } from '../../http/problem.ts';
import { parseFields } from '../../http/query.ts';
import { type BodyRules, readText } from '../../http/request-body.ts';
import { listFields, type FieldTexts, type FormKind } from './add-fields.ts';
import { withSchemes } from './field-values.ts';

/** A form as it was sent. */
export interface SentForm {
  readonly texts: FieldTexts;
  /** The digest of the file that the form was filled in with; empty for a new file. */
  readonly base: string;
}

/**
 * Reads a form from a request. One that a page of another site has its visitors send is refused: it changes nothing, but
 * previews take time.
 * @throws {ProblemError} cross-site, unsupported-type, too-large, bad-request
 */
export async function readForm(ctx: Context, kind: FormKind): Promise<SentForm> {
  if (ctx.get('Sec-Fetch-Site') === 'cross-site')
    throw new ProblemError('cross-site', 'a page of another site has sent this form: open the form here');
  const params = parseFields(await readText(ctx, formRules));
  const fields = listFields(kind);
  const texts = fields.flatMap(({ name }) => {
    const text = params.get(name);
    if (text === null) return [];
    if (text.length > maxFieldLength)
      throw new ProblemError('too-large', `${name} is longer than ${maxFieldLength} characters: shorten it`);
    return [[name, text] as const];
  });
  return { texts: withSchemes(fields, Object.fromEntries(texts)), base: params.get('base') ?? '' };
}

/** A page has up to 20,000 characters, and a character takes up to nine bytes in a form. */
const formRules: BodyRules = {
  type: ['application/x-www-form-urlencoded', 'a form'],
  limit: 256 * 1024,
  whenTooLarge: 'shorten the page',
};

/** Characters. More than a page or twenty addresses have. */
const maxFieldLength = 45_000;
