import type { Context } from 'koa';
import { ProblemError } from '../../http/problem.ts';
import { fieldsOf } from '../../http/query.ts';
import { type BodyRules, readText } from '../../http/request-body.ts';
import { fieldsOfForm, type FieldTexts, type FormKind } from './add-fields.ts';
import { withSchemes } from './field-values.ts';

/**
 * Reads the texts of a form from a request.
 * @throws {ProblemError} unsupported-type, too-large, bad-request
 */
export async function readTexts(ctx: Context, kind: FormKind): Promise<FieldTexts> {
  const params = fieldsOf(await readText(ctx, formRules));
  const fields = fieldsOfForm(kind);
  const texts = fields.flatMap(({ name }) => {
    const text = params.get(name);
    if (text === null) return [];
    if (text.length > longestField)
      throw new ProblemError('too-large', `${name} is longer than ${longestField} characters: shorten it`);
    return [[name, text] as const];
  });
  return withSchemes(fields, Object.fromEntries(texts));
}

/** A page has up to 20,000 characters, and a character takes up to nine bytes in a form. */
const formRules: BodyRules = {
  type: ['application/x-www-form-urlencoded', 'a form'],
  limit: 256 * 1024,
  whenTooLarge: 'shorten the page',
};

/** Characters. More than a page or twenty addresses have. */
const longestField = 45_000;
