import type { ComponentChildren, VNode } from 'preact';
import type { BotListElement } from '../../../schemas/types.ts';
import type { BotId } from '../../bot/id.ts';
import { chooseLocale } from '../../bot/locale.ts';
import { maxQueryLength } from '../../catalogue/lists/parameters.ts';
import { type IndexedBot, parseListElement } from '../../catalogue/store/bot-index.ts';
import { BotAvatar, findMainCategory, type ShelfTileProps } from '../../site/front/card.tsx';
import { withoutBidiControls } from '../../lib/text.ts';
import { usePage } from '../../site/page/page-context.tsx';
import type { DeskParts } from '../page/desk-parts.ts';
import { type FieldTexts, splitWords } from './fields.ts';

/** The bots of a collection while its form is filled in. */
export interface FormShelf {
  /** The bots that the words find, without the chosen ones. */
  readonly found: readonly ShelfBot[];
  readonly chosen: readonly ShelfBot[];
  /** The collection as other pages show it. */
  readonly tile: Pick<ShelfTileProps, 'category' | 'bots' | 'count'>;
}

interface ShelfBot {
  readonly id: string;
  /** Undefined if the bot is not listed. */
  readonly bot: BotListElement | undefined;
  /** In a language of the reader if it has one. */
  readonly name: string;
}

/**
 * Returns the shelf of a form, with the bots that its words find.
 * @param wanted languages, best first @param client the address that requests the bots @throws {BotshelfError} queue-full
 */
export async function fillShelf(
  { bots, lists }: Pick<DeskParts, 'bots' | 'lists'>,
  { bots: ids = '' }: FieldTexts,
  find: string,
  { wanted, client }: { readonly wanted: readonly string[]; readonly client: string },
): Promise<FormShelf> {
  const toShelfBot = (id: string, indexed = bots.get(id as BotId)): ShelfBot => {
    const bot = indexed && parseListElement(indexed);
    const locale = chooseLocale(indexed?.facts.locales ?? [], wanted) ?? '';
    return { id, bot, name: withoutBidiControls(bot?.contents[locale]?.name ?? '') };
  };
  const search = async (q: string): Promise<readonly IndexedBot[]> => {
    const named = bots.get((/\/bots\/(\d+)/.exec(q)?.[1] ?? q) as BotId);
    if (named || q === '') return named ? [named] : [];
    return (await lists.page({ q, after: 0, limit: maxFound }, client)).bots;
  };
  const found = await search(find.trim().slice(0, maxQueryLength));
  const chosen = splitWords(ids);
  const listed = chosen.flatMap((id) => bots.get(id as BotId) ?? []);
  return {
    found: found.filter(({ id }) => !chosen.includes(id)).map(({ id }) => toShelfBot(id)),
    chosen: chosen.map((id) => toShelfBot(id)),
    tile: { category: findMainCategory(listed), bots: listed.map(parseListElement), count: listed.length },
  };
}

const maxFound = 6;

/** The field that a button sends: `find`, or another step and the id of a bot. */
export const shelfField = 'shelf';

/** Returns the ids of the bots after a step. */
export function changeShelf(ids: readonly string[], sent: string): readonly string[] {
  const [step, id = ''] = sent.split(' ');
  const place = ids.indexOf(id);
  const others = ids.filter((other) => other !== id);
  if (step === 'put') return [...others, id];
  if (step === 'take' || place === -1) return others;
  if (step === 'up') return others.toSpliced(Math.max(place - 1, 0), 0, id);
  return step === 'down' ? others.toSpliced(place + 1, 0, id) : ids;
}

/** The field to find bots by their names, and the bots that are found and chosen, each with its buttons. */
export function ShelfField(props: FormShelf & Record<'find' | 'action', string>): VNode {
  const { find, found, chosen, action } = props;
  const { t, text, href, categoryName } = usePage();
  const toButton = (step: keyof typeof signs, bot?: ShelfBot, place?: number): VNode => (
    <button
      class={signs[step] ? 'small' : 'quiet'}
      name={shelfField}
      value={bot ? `${step} ${bot.id}` : step}
      formAction={`${href(action)}#${place ? `place-${place}` : 'bots'}`}
      aria-label={bot && `${text(`collection.${step}`)}: ${bot.bot ? bot.name : text('collection.gone')}`}
    >
      {signs[step] || t(`collection.${step}`)}
    </button>
  );
  const toRow = ({ id, bot, name }: ShelfBot, buttons: ComponentChildren, place?: number): VNode => (
    <li key={id} id={place ? `place-${place}` : undefined}>
      {bot ? <BotAvatar {...{ bot, name }} size={40} /> : <span />}
      <span>
        <b dir="auto">{bot ? name : t('collection.gone')}</b>{' '}
        {bot && <span class="muted">{categoryName(bot.category)}</span>}
      </span>
      <span>{buttons}</span>
    </li>
  );
  const toPlace = (bot: ShelfBot, i: number): VNode => {
    const up = i > 0 && toButton('up', bot, i);
    const down = i < chosen.length - 1 && toButton('down', bot, i + 2);
    return toRow(bot, [up, down, toButton('take', bot, i)], i + 1);
  };
  return (
    <>
      <div class="copy" id="bots">
        <input
          id="find"
          name="find"
          dir="auto"
          value={find}
          autocomplete="off"
          aria-describedby="hint-bots"
        />
        {toButton('find')}
      </div>
      <div class="advice" id="advice-bots">
        <input type="hidden" name="bots" value={chosen.map(({ id }) => id).join(' ')} />
        {find.trim() !== '' && found.length === 0 && <p>{t('collection.nothing')}</p>}
        <ul class="suggest">{found.map((bot) => toRow(bot, toButton('put', bot)))}</ul>
        <ol class="picked">{chosen.map(toPlace)}</ol>
      </div>
    </>
  );
}

const signs = { find: '', put: '', up: '↑', down: '↓', take: '✕' } as const;
