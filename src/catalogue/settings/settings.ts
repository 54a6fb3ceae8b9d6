import type { Locale } from '../../bot/locale.ts';
import { defaultCategories } from '../../bot/schemas.ts';
import type { Category, SettingsFile } from '../../bot/schema-types.ts';
import type { Logo } from './logo.ts';

/** The settings of a catalogue as they are in force. A new object whenever they change. */
export interface CatalogueSettings {
  /** What the site is called. */
  readonly name: string;
  /** What the site is for, in the default language; null for the text of the interface. */
  readonly tagline: string | null;
  /** News for every visitor, in the default language. */
  readonly notice: string | null;
  readonly contact: string | null;
  /** Links at the foot of every page. */
  readonly links: Readonly<Partial<Record<FooterLink, string>>>;
  /** Colours as #rrggbb, in place of those of the stylesheet. */
  readonly accent: { readonly light?: string; readonly dark?: string };
  readonly logo: Logo | null;
  /** The language of the interface for readers whose own it does not have. */
  readonly language: Locale;
  /** Every category that a bot can have. */
  readonly categories: readonly Category[];
  /** Category → its names by language, where the file has names. */
  readonly categoryNames: ReadonlyMap<Category, Readonly<Record<string, string>>>;
  /** Words that mean the same to a search, beside those that it knows. */
  readonly synonyms: readonly (readonly string[])[];
  /** The languages that the pages of bots may be in; null for any. */
  readonly languages: readonly Locale[] | null;
  /** The web pages of the repository, in place of those that follow from the remote; `{path}` is the path of a file. */
  readonly repository: NonNullable<SettingsFile['repository']> | null;
  /** After how many days without a new count a bot is inactive. */
  readonly inactiveDays: number;
  /** The ids of the accounts that may review proposals. Those of the last commit decide: see `readCommittedSettings`. */
  readonly maintainers: readonly string[];
  readonly proposals: ProposalPolicies;
}

/** What is done with proposals, by who sends them; `off` takes none. */
export interface ProposalPolicies {
  readonly newBots: 'review' | 'off';
  /** For changes of a bot by its authors. `publish` commits them at once, but for those of `findReviewedChanges`. */
  readonly authors: 'review' | 'publish' | 'off';
  /** For changes of a bot by anybody else. */
  readonly others: 'review' | 'off';
  /** How old the account of a proposer has to be, where its id tells. */
  readonly minAccountAgeDays: number;
  /** Why a proposal can be declined, in the default language; null for `defaultReasons`. */
  readonly reasons: readonly string[] | null;
}

/** Why a proposal can be declined, where the settings have no list: keys of texts of the interface. */
export const defaultReasons = ['duplicate', 'offline', 'not-a-bot', 'unclear', 'rules'] as const;

export type FooterLink = 'terms' | 'privacy' | 'report';

/** The name of the file that has the settings, beside `bots/`. */
export const settingsName = 'botshelf.json';

/** Returns the settings that a file has; without one, the defaults. @param file valid by its schema */
export function toSettings(file: SettingsFile = {}, logo: Logo | null = null): CatalogueSettings {
  return {
    name: file.name ?? 'Botshelf',
    tagline: file.tagline ?? null,
    notice: file.notice ?? null,
    contact: file.contact ?? null,
    links: file.links ?? {},
    accent: file.accent ?? {},
    logo,
    language: (file.language ?? 'en') as Locale,
    categories: file.categories === undefined ? defaultCategories : withOther(Object.keys(file.categories)),
    categoryNames: new Map(Object.entries(file.categories ?? {})),
    synonyms: file.synonyms ?? [],
    languages: (file.languages as Locale[] | undefined) ?? null,
    repository: file.repository ?? null,
    inactiveDays: file.inactiveDays ?? 30,
    maintainers: file.maintainers ?? [],
    proposals: { ...defaultPolicies, ...file.proposals },
  };
}

const defaultPolicies: ProposalPolicies = {
  newBots: 'review',
  authors: 'review',
  others: 'review',
  minAccountAgeDays: 0,
  reasons: null,
};

/** Returns the language that is proposed for a new page: the default one, or the first of those that pages may be in. */
export function chooseNewPageLanguage({
  language,
  languages,
}: Pick<CatalogueSettings, 'language' | 'languages'>): Locale {
  return languages === null || languages.includes(language) ? language : (languages[0] ?? language);
}

/** What a bot falls back to. */
const other: Category = 'other';

function withOther(categories: readonly Category[]): readonly Category[] {
  return categories.includes(other) ? categories : [...categories, other];
}
