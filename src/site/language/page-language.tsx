import { createContext, type VNode } from 'preact';
import { useContext } from 'preact/hooks';
import type { Category } from '../../../schemas/types.ts';
import type { Locale } from '../../bot/locale.ts';
import { directionOf, formatOwnName } from './locales.ts';
import type { Messages } from './messages.tsx';

/** The language that a page is in, and how its links keep it. */
export interface PageLanguage extends Messages {
  /** After how many days without a new count a bot is inactive. */
  readonly inactiveDays: number;
  /** Every category that a bot can have. */
  readonly categories: readonly Category[];
  /** Returns the name of a category, in the nearest language that has one. */
  readonly categoryName: (category: Category) => string;
  /** Returns what a list of its bots is called, such as “Game bots”. */
  readonly categoryTitle: (category: Category) => string;
  /** The language in the address, in canonical case; undefined if the browser's or the default is used. */
  readonly requested: Locale | undefined;
  /** The languages that the interface has. */
  readonly locales: readonly Locale[];
  /** Returns where the public address has a path of this site: below the path of that address. */
  readonly publicPath: (path: string) => string;
  /** Returns the same with the language that is in the address, if there is one. */
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

/**
 * A menu of links to this page in each language of the interface.
 * @param props.pathIn returns the page's path with a language; where it is left out, its other parameters go
 */
export function LanguageSwitch({ pathIn }: { readonly pathIn?: (locale: Locale) => string }): VNode {
  const { locale: current, locales, publicPath } = useLanguage();
  return (
    <details class="menu up">
      <summary class="chip">{formatOwnName(current)}</summary>
      <ul>
        {locales.map((locale) => (
          <li key={locale}>
            <a
              href={pathIn ? publicPath(pathIn(locale)) : `?locale=${locale}`}
              lang={locale}
              dir={directionOf(locale)}
              hreflang={locale}
              aria-current={locale === current ? 'true' : undefined}
            >
              {formatOwnName(locale)}
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}
