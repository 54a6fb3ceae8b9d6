import type { BotId } from '../../bot/id.ts';
import type { Locale } from '../../bot/locale.ts';

/** Returns the path of the form that edits a bot's page in a language, which is its main page where none is named. */
export function editPath(id: BotId, language?: Locale): string {
  return `/bots/${id}/edit${language === undefined ? '' : `?language=${language}`}`;
}

/** Returns the path of the form that adds a language to a bot. @param from that of the page to translate; the main page where none is named */
export function translatePath(id: BotId, from?: Locale): string {
  return `/bots/${id}/translate${from === undefined ? '' : `?from=${from}`}`;
}
