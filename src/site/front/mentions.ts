import type { Command } from '../../../schemas/types.ts';
import type { Locale } from '../../bot/locale.ts';
import type { PageOfBots } from '../../catalogue/lists/lists.ts';
import { withoutMarkup } from '../../catalogue/search/words.ts';
import { type IndexedBot, parseRecord } from '../../catalogue/store/bot-index.ts';
import { withoutBidiControls } from '../../lib/text.ts';

/** A piece of a bot's page or commands around a word of a search, in the language of the piece. */
export interface Mention {
  readonly text: string;
  readonly locale: Locale;
}

/**
 * Returns the first mention of a word of a search on a bot's page in this language, or else in other languages, or else
 * in its commands; undefined if the beginnings of these texts have no mention.
 */
export function findMention(
  bot: IndexedBot,
  locale: Locale,
  splitWords: PageOfBots['splitWords'],
): Mention | undefined {
  const { contents } = parseRecord(bot);
  const { locales } = bot.facts;
  const pages = [...new Set([locale, ...locales])].map((own) => [own, contents[own]?.page ?? ''] as const);
  const commands = JSON.parse(String(bot.commands ?? '[]')) as Command[];
  const lines = commands.map(({ name, description = '' }) => `/${name} ${description}`);
  for (const [own, text] of [...pages, [locales[0] ?? locale, lines.join('\n')] as const])
    for (const line of withoutMarkup(text.slice(0, maxSearchedLength)).split('\n')) {
      const piece = cutPiece(splitWords(line.replace(marks, '').trim(), own));
      if (piece !== undefined) return { text: withoutBidiControls(piece), locale: own };
    }
  return undefined;
}

/** Returns the first word of a split line with some text around it, cut at spaces if there are any. */
function cutPiece([before = '', word, ...others]: readonly string[]): string | undefined {
  if (word === undefined) return undefined;
  const after = others.join('');
  const [start, end] = [before.slice(-maxBefore), after.slice(0, maxAfter)];
  return [
    start === before ? start : `…${start.replace(/^\S*\s|^\p{Cs}/u, '')}`,
    word,
    end === after ? end : `${end.replace(/\s\S*$|\p{Cs}$/u, '')}…`,
  ].join('');
}

const marks = /[`*#>|~[\]]+/g;

/** In characters: the beginning of a text that is searched, and what is shown around a word. */
const maxSearchedLength = 10_000;
const maxBefore = 40;
const maxAfter = 80;
