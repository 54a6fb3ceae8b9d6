declare const brand: unique symbol;

/** A BCP 47 tag of a known language, in canonical case: `en`, `en-GB`, `zh-CN`. */
export type Locale = string & { readonly [brand]: 'Locale' };

/** The locale that `text` is, or undefined when it is no tag or not in canonical case. */
export function parseLocale(text: string): Locale | undefined {
  return canonicalLocale(text) === text ? (text as Locale) : undefined;
}

/** The canonical form of a tag such as `EN-gb`, or undefined when `text` is no tag of a language that Intl knows. */
export function canonicalLocale(text: string): Locale | undefined {
  if (text.length > 35 || !/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/.test(text)) return undefined;
  const known = canonicalForms.get(text);
  if (known !== undefined) return known;
  const canonical = intlCanonical(text);
  if (canonical !== undefined && canonicalForms.size < 1000) canonicalForms.set(text, canonical);
  return canonical;
}

/** Asking Intl takes microseconds, and a catalogue asks for the same few tags at every file. */
const canonicalForms = new Map<string, Locale>();

/** `english` is a well-formed tag, but no language. Made when it is first needed, which takes milliseconds. */
let languageNames: Intl.DisplayNames | undefined;

function intlCanonical(tag: string): Locale | undefined {
  try {
    const locale = new Intl.Locale(tag);
    languageNames ??= new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });
    return languageNames.of(locale.language) === undefined ? undefined : (locale.toString() as Locale);
  } catch {
    return undefined;
  }
}
