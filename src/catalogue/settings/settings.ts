import type { Locale } from '../../bot/locale.ts';
import type { SettingsFile } from '../../bot/schema-types.ts';
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
}

export type FooterLink = 'terms' | 'privacy' | 'report';

/** The name of the file that has the settings, beside `bots/`. */
export const settingsName = 'botshelf.json';

/** Returns the settings that a file has; without one, the defaults. @param file valid by its schema */
export function settingsOf(file: SettingsFile = {}, logo: Logo | null = null): CatalogueSettings {
  return {
    name: file.name ?? 'Botshelf',
    tagline: file.tagline ?? null,
    notice: file.notice ?? null,
    contact: file.contact ?? null,
    links: file.links ?? {},
    accent: file.accent ?? {},
    logo,
    language: (file.language ?? 'en') as Locale,
  };
}
