import { createHash } from 'node:crypto';
import type { BotListElement, FileItem } from '../../bot/schema-types.ts';
import { joinToPieces, type Pieces, pieceSize } from '../../lib/pieces.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import {
  parseListElement,
  listElementParts,
  computeElementSize,
  type IndexedBot,
} from '../store/bot-index.ts';
import { pathOf } from '../page/layout.ts';
import type { PageOfBots } from './selection.ts';

/** A list as JSON: an array, one element a bot or file. */
export interface List extends Pick<PageOfBots, 'total' | 'next' | 'corrected'> {
  readonly digest: string;
  /** Whole, or in pieces that are made for each response. */
  readonly body: Buffer | Pieces;
  /** Bytes that it takes up in memory besides the index. */
  readonly size: number;
}

/** Returns the list of the selected bots as JSON. */
export async function buildList(
  { bots, ...page }: PageOfBots,
  { toJson, digestOf, salt }: ListForm,
  slice = new TimeSlice(),
): Promise<List> {
  const hash = createHash('sha1').update(`${salt} `);
  let bytes = 0;
  for (const bot of bots) {
    if (slice.isOver) await slice.next();
    hash.update(digestOf(bot));
    bytes += computeElementSize(bot);
  }
  const digest = hash.digest('base64url');
  // A larger list is made for each response; it has no bytes of its own.
  if (bytes > pieceSize) {
    const body = { bytes, read: () => joinToPieces(formatArray(bots, toJson)) };
    return { ...page, digest, body, size: bots.length * 8 };
  }
  const parts: Buffer[] = [];
  for await (const part of joinToPieces(formatArray(bots, toJson), slice)) parts.push(part);
  const body = Buffer.concat(parts);
  return { ...page, digest, body, size: body.length };
}

/** Yields a JSON array in parts, one or more a bot. */
function* formatArray(bots: readonly IndexedBot[], toJson: ListForm['toJson']): Generator<Buffer> {
  let separator = openBracket;
  for (const bot of bots) {
    yield Buffer.concat([separator, ...toJson(bot)]);
    separator = comma;
  }
  if (bots.length === 0) yield openBracket;
  yield closeBracket;
}

const openBracket = Buffer.from('[');
const closeBracket = Buffer.from(']');
const comma = Buffer.from(',');

/** What a list shows of a bot. */
export interface ListForm {
  /** In parts, one after the other. */
  readonly toJson: (bot: IndexedBot) => readonly Buffer[];
  /** Differs where `toJson` does; with the salt also from that of another form. */
  readonly digestOf: (bot: IndexedBot) => string;
  readonly salt: string;
}

const wholeElements: ListForm = {
  toJson: listElementParts,
  digestOf: ({ digest }) => digest,
  salt: '',
};

export const fileForm: ListForm = {
  toJson: listFileItems,
  // The names are in no file.
  digestOf: ({ id, files }) => files.map(({ locale, sha }) => `${id}.${locale} ${sha} `).join(''),
  salt: '',
};

/** Returns the form of whole elements, or of these keys of them. */
export function createElementForm(fields: readonly (keyof BotListElement)[] | undefined): ListForm {
  if (fields === undefined) return wholeElements;
  const toJson = (bot: IndexedBot): Buffer[] => {
    const whole = parseListElement(bot);
    return [Buffer.from(JSON.stringify(Object.fromEntries(fields.map((key) => [key, whole[key]]))))];
  };
  return { ...wholeElements, toJson, salt: fields.join() };
}

function listFileItems(bot: IndexedBot): Buffer[] {
  const { id, files } = bot;
  const { contents } = parseListElement(bot);
  const items = files.map(({ locale, main, size, sha }): FileItem => {
    const { name = '', description = '' } = contents[locale] ?? {};
    return { id, locale, main, path: pathOf(id, locale), name, description, size, sha };
  });
  return [Buffer.from(items.map((item) => JSON.stringify(item)).join())];
}
