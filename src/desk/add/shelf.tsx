import type { ComponentChildren, RenderableProps, VNode } from 'preact';
import type { BotListElement } from '../../../schemas/types.ts';
import type { BotId } from '../../bot/id.ts';
import { chooseLocale } from '../../bot/locale.ts';
import { maxQueryLength } from '../../catalogue/lists/parameters.ts';
import { type IndexedBot, parseListElement } from '../../catalogue/store/bot-index.ts';
import { BotAvatar } from '../../site/front/card.tsx';
import { findMainCategory, type ShelfTileProps } from '../../site/front/shelf-tile.tsx';
import { withoutBidiControls } from '../../site/page/elements.tsx';
import { useLanguage } from '../../site/page/page-context.tsx';
import type { DeskParts } from '../page/desk-parts.ts';
import { type FieldTexts, splitWords } from './fields.ts';

/** The bots of a collection while its form is filled in. */
export interface FormShelf {
  /** The words to find a bot by. */
  readonly find: string;
  /** The bots that they find, without the chosen ones. */
  readonly found: readonly ShelfBot[];
  readonly chosen: readonly ShelfBot[];
  /** The collection as other pages show it. */
  readonly tile: ShelfTileProps;
}

interface ShelfBot {
  readonly id: string;
  /** Undefined if the bot is not listed. */
  readonly bot: BotListElement | undefined;
  /** In a language of the reader if it has one. */
  readonly name: string;
}

/** @param wanted languages, best first @param client the address that requests the bots @throws {BotshelfError} queue-full */
export async function fillShelf(
  { bots, lists }: Pick<DeskParts, 'bots' | 'lists'>,
  { bots: ids = '', title = '', description = '' }: FieldTexts,
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
  const tile = { path: '', title: title.trim() || '…', line: description, count: listed.length };
  return {
    find,
    found: found.filter(({ id }) => !chosen.includes(id)).map(({ id }) => toShelfBot(id)),
    chosen: chosen.map((id) => toShelfBot(id)),
    tile: { ...tile, category: findMainCategory(listed), bots: listed.map(parseListElement) },
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
  if (step === 'take') return others;
  if (step === 'up') return others.toSpliced(Math.max(place - 1, 0), 0, id);
  return step === 'down' ? others.toSpliced(place + 1, 0, id) : ids;
}

interface ShelfProps {
  readonly shelf: FormShelf;
  /** The path to which the form is sent. */
  readonly action: string;
}

/** The field to find a bot by its name. */
export function ShelfSearch({ shelf, action }: ShelfProps): VNode {
  const { t } = useLanguage();
  return (
    <div class="copy" id="bots">
      <input
        id="find"
        name="find"
        dir="auto"
        value={shelf.find}
        autocomplete="off"
        aria-describedby="hint-bots"
      />
      <StepButton {...{ action }} step="find">
        {t('collection.find')}
      </StepButton>
    </div>
  );
}

/** The bots that were found, and the chosen ones in order, each with its buttons. */
export function ShelfBots({ shelf: { find, found, chosen }, action }: ShelfProps): VNode {
  const { t, text, categoryName } = useLanguage();
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
  const toButton = (step: keyof typeof signs, { id, name }: ShelfBot, place?: number): VNode => (
    <StepButton
      {...{ action, place }}
      step={`${step} ${id}`}
      label={`${text(`collection.${step}`)}: ${name}`}
    >
      {signs[step] ?? t('collection.put')}
    </StepButton>
  );
  return (
    <>
      <input type="hidden" name="bots" value={chosen.map(({ id }) => id).join(' ')} />
      {find.trim() !== '' && found.length === 0 && <p>{t('collection.nothing')}</p>}
      <ul class="suggest">{found.map((row) => toRow(row, toButton('put', row)))}</ul>
      <ol class="picked">
        {chosen.map((row, i) =>
          toRow(
            row,
            <>
              {i > 0 && toButton('up', row, i)}
              {i < chosen.length - 1 && toButton('down', row, i + 2)}
              {toButton('take', row, i)}
            </>,
            i + 1,
          ),
        )}
      </ol>
    </>
  );
}

const signs = { put: undefined, up: '↑', down: '↓', take: '✕' } as const;

/** A button that sends the form, to show it again after a step. @param props.place the row to show then */
function StepButton(
  props: RenderableProps<{
    readonly action: string;
    readonly step: string;
    readonly place?: number | undefined;
    readonly label?: string;
  }>,
): VNode {
  const { action, step, place, label, children } = props;
  const { href } = useLanguage();
  return (
    <button
      class={place === undefined ? 'quiet' : 'small'}
      name={shelfField}
      value={step}
      formAction={`${href(action)}#${place ? `place-${place}` : 'bots'}`}
      aria-label={label}
    >
      {children}
    </button>
  );
}
