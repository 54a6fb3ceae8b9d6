import { createContext, type VNode } from 'preact';
import { useContext } from 'preact/hooks';
import type { Category } from '../../../schemas/types.ts';
import type { Locale } from '../../bot/locale.ts';
import { directionOf, formatOwnName, withLocale } from './locales.ts';
import type { Messages } from './messages.tsx';

/** The language that a page is in. */
export interface PageLanguage extends Messages {
  /** After how many days without a new count a bot is inactive. */
  readonly inactiveDays: number;
  /** Every category that a bot can have. */
  readonly categories: readonly Category[];
  /** Returns the name of a category, in the nearest language that has one. */
  readonly categoryName: (category: Category) => string;
  /** Returns what a list of its bots is called, such as “Game bots”. */
  readonly categoryTitle: (category: Category) => string;
  /** The language in the address, or else in the cookie, in canonical case; undefined if there is none. */
  readonly requested: Locale | undefined;
  /**
   * The language ranges for texts that are in other languages than the interface, best first: those of the reader, the
   * language of the interface, that of the list, and English. None for a client that names none.
   */
  readonly wanted: readonly string[];
  /** The languages that the interface has. */
  readonly locales: readonly Locale[];
  /** Returns where the public address has a path of this site: below the path of that address. */
  readonly href: (path: string) => string;
}

const context = createContext<PageLanguage | null>(null);

/** Returns the language of the page that is being rendered. For components only. */
export function useLanguage(): PageLanguage {
  const language = useContext(context);
  if (language === null) throw new Error('a component is rendered outside of provideLanguage');
  return language;
}

/** Returns a page whose components are in this language. */
export function provideLanguage(language: PageLanguage, page: VNode): VNode {
  return <context.Provider value={language}>{page}</context.Provider>;
}

/** Leads back to the page in the language that `locale` names, which the browser remembers. */
export const languagePath = '/language';

/** A form of a page, which what leaves the page sends, so that nothing that was typed is lost. */
export interface SentForm {
  readonly id: string;
  /** The path of the form, which shows it again. */
  readonly action: string;
}

/** A menu of the languages of the interface: links, or buttons of the form of the page. */
export function LanguageSwitch({ form }: { readonly form: SentForm | undefined }): VNode {
  const { locale: current, locales, href } = useLanguage();
  return (
    <details class="menu up">
      <summary class="chip">{formatOwnName(current, locales)}</summary>
      <ul>
        {locales.map((locale) => {
          const common = {
            lang: locale,
            dir: directionOf(locale),
            'aria-current': locale === current ? ('true' as const) : undefined,
            children: formatOwnName(locale, locales),
          };
          const path = form?.action ?? languagePath;
          return (
            <li key={locale}>
              {form ? (
                <button
                  class="plain"
                  form={form.id}
                  formAction={withLocale(href(path), locale)}
                  {...common}
                />
              ) : (
                <a href={withLocale(href(path), locale)} rel="nofollow" {...common} hreflang={locale} />
              )}
            </li>
          );
        })}
      </ul>
    </details>
  );
}
