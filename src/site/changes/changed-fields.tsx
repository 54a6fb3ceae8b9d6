import { type Change, diffWordsWithSpace } from 'diff';
import { type ComponentChildren, Fragment, type VNode } from 'preact';
import {
  type BotChange,
  type ChangesPage,
  readBotChanges,
  type FieldChange,
  type PageChange,
  type InviteChange,
} from '../../catalogue/changes/bot-changes.ts';
import { parseUrl } from '../../lib/network.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import type { MessageKey, Messages } from '../language/messages.tsx';
import { usePage } from '../page/page-context.tsx';
import { Fact } from '../page/elements.tsx';
import { withoutBidiControls } from '../../lib/text.ts';
import { namePermissions } from '../page/permissions.tsx';

/** A value that differs, as text. `before` or `after` is empty without a value; both are if the value is not shown. */
export interface ShownField extends Record<'before' | 'after', string>, Pick<FieldChange, 'name'> {
  /** The words that differ: null if they are too many, undefined until they are compared. */
  words?: readonly Words[] | null;
}

/** The changes of a page of a bot, as texts. */
export interface ShownPageChange extends Omit<PageChange, 'fields'> {
  readonly fields: readonly ShownField[];
}

/** Changes as texts, newest first, and the commit after which the next page begins. */
export interface ShownChanges extends Omit<ChangesPage, 'changes'> {
  readonly changes: readonly (Omit<BotChange, 'pages'> & { readonly pages: readonly ShownPageChange[] })[];
}

/** Reads changes like `readBotChanges`, with the words that differ. */
export async function readShownChanges(...options: Parameters<typeof readBotChanges>): Promise<ShownChanges> {
  const page = await readBotChanges(...options);
  const changes = page.changes.map((change) => ({ ...change, pages: toShownPages(change.pages) }));
  await compareWords(changes.flatMap(({ pages }) => pages));
  return { ...page, changes };
}

/** Formats the values of changes; their words are not compared yet. */
export function toShownPages(pages: readonly PageChange[]): ShownPageChange[] {
  return pages.map(({ fields, ...page }) => ({
    ...page,
    fields: fields.map(({ name, before, after }) => {
      return { name, before: formatAny(before), after: formatAny(after) };
    }),
  }));
}

function formatAny(value: unknown): string {
  if (value === true) return '✓';
  if (value === undefined) return '';
  const isText = typeof value === 'string' || Array.isArray(value);
  const texts = [value].flat().filter((entry) => typeof entry === 'string');
  return withoutBidiControls(isText ? texts.join('\n') : JSON.stringify(value));
}

/** Compares the words of each field that was not compared yet, in slices of time. */
export async function compareWords(pages: readonly ShownPageChange[]): Promise<void> {
  const slice = new TimeSlice();
  const end = performance.now() + maxWordsMs;
  for (const field of pages.flatMap(({ fields }) => fields)) {
    if (field.words !== undefined) continue;
    await slice.next();
    field.words = performance.now() < end ? diffWords(field.before, field.after) : null;
  }
}

/** Maximum time for comparing the words of a page. */
const maxWordsMs = 500;

export interface ChangedFieldsProps extends Partial<Pick<BotChange, 'hasOtherCommands'>> {
  readonly pages: readonly ShownPageChange[];
  readonly invite: InviteChange;
}

/** The permissions that a bot newly asks for or no longer asks for, then the fields word by word. */
export function ChangedFields({ pages, invite, hasOtherCommands }: ChangedFieldsProps): VNode {
  const { t, languageName, categoryName } = usePage();
  const namesLanguage = pages.length > 1 || pages.some(({ state }) => state !== 'edited');
  return (
    <>
      {invite.added.administrator && <p class="notice warn warning">{t('permissions.fullControl')}</p>}
      {invite.isOtherBot && <p class="notice warn warning">{t('review.otherBot')}</p>}
      <ChangedPermissions invite={invite} />
      {pages.map(({ locale, state, fields }) => (
        <div key={locale}>
          {namesLanguage && <h3>{languageName(locale)}</h3>}
          {fields.length === 0 && state !== 'edited' && <p>{t(`changes.${state}`)}</p>}
          <dl class="changes">
            {fields
              .filter(({ after }) => state !== 'added' || after !== '')
              .map((field) => (
                <Fact key={field.name} name={<FieldName name={field.name} />}>
                  {state === 'added' ? (
                    <div class="typed">
                      {field.name === 'category' ? categoryName(field.after) : field.after}
                    </div>
                  ) : (
                    <ChangedWords {...field} />
                  )}
                </Fact>
              ))}
          </dl>
        </div>
      ))}
      {hasOtherCommands && (
        <dl class="changes">
          <Fact name={t('bot.commands')}>{t('changes.edited')}</Fact>
        </dl>
      )}
    </>
  );
}

function ChangedPermissions({ invite }: Pick<ChangedFieldsProps, 'invite'>): VNode | null {
  const { t, text } = usePage();
  const permissions = (['added', 'removed'] as const).flatMap((change) =>
    namePermissions(invite[change], text).map((named) => ({ ...named, added: change === 'added' })),
  );
  if (permissions.length === 0 && !invite.isUnknown) return null;
  return (
    <dl class="changes">
      <Fact name={t('permissions.title')}>
        {permissions.map((permission) => (
          <Fragment key={permission.key}>
            <Changed {...permission} value={permission.name} />{' '}
          </Fragment>
        ))}
        {invite.isUnknown && t('permissions.notKnown')}
      </Fact>
    </dl>
  );
}

/** The words of a value that change; folded for a page. */
function ChangedWords({ name, before, after, words }: ShownField): VNode {
  const { t, categoryName } = usePage();
  const toShown = (value: string): string => (name === 'category' ? categoryName(value) : value);
  if (before === '' && after === '') return <>{t('changes.edited')}</>;
  const removed = { value: toShown(before), removed: true, added: false };
  const added = { value: toShown(after), removed: false, added: true };
  // Addresses are shown whole, the old ones above the new ones.
  const isAddress = `${before}\n${after}`.split('\n').every((line) => line === '' || parseUrl(line));
  const arrow = { value: isAddress ? '\n' : ' → ', removed: false, added: false };
  const whole = before === '' ? [added] : after === '' ? [removed] : [removed, arrow, added];
  const isWhole = name === 'category' || isAddress;
  const text = <WordDiff words={(!isWhole && words) || whole} />;
  if (name !== 'page') return <div class="typed">{text}</div>;
  if (!words) return <>{t('review.tooMuch')}</>;
  return (
    <details class="typed">
      <summary>{t('review.words')}</summary>
      {text}
    </details>
  );
}

/** An addition or removal, with a word for screen readers. An addition that can do harm is not marked as good. */
function Changed(props: {
  readonly added: boolean;
  readonly value: ComponentChildren;
  readonly isHarmful?: boolean;
}): VNode {
  const { added, value, isHarmful = false } = props;
  const { t } = usePage();
  const Mark = added ? 'ins' : 'del';
  return (
    <>
      <span class="out-of-sight">{t(added ? 'edit.added' : 'edit.removed')} </span>
      <Mark class={isHarmful ? 'harm' : undefined}>{value}</Mark>
    </>
  );
}

/** A part of two texts: words that both have, or that were added or removed. */
export type Words = Readonly<Pick<Change, 'value' | 'added' | 'removed'>>;

/** Compares two texts word by word. Returns null if too many words differ or if it takes too long. */
export function diffWords(before: string, after: string): readonly Words[] | null {
  const limits = { timeout: maxTextMs, maxEditLength: maxChangedWords };
  return diffWordsWithSpace(before, after, limits) ?? null;
}

/** The time grows with the square of the words that differ, and a proposal has several pages. */
const maxChangedWords = 200;
const maxTextMs = 20;

/** The words of a text that change, each marked with a colour and a word for screen readers, with a few words around them. */
export function WordDiff({ words }: { readonly words: readonly Words[] }): VNode {
  const parts = words.map(({ value, added, removed }, i) => {
    if (!added && !removed) return value.replace(unchangedMiddle, '$1 … $2');
    return <Changed key={i} added={added} value={value} />;
  });
  return <>{parts}</>;
}

/** The part of an unchanged text that is far from any change. */
const unchangedMiddle = /^(.{200})(?:.{100,})(.{200})$/su;

/** The label of a form's field, or a key of the front matter. */
export function FieldName({ name }: { readonly name: string }): VNode {
  const label = formatFieldName(name, usePage().text);
  return label === name ? <code>{name}</code> : <>{label}</>;
}

/** Returns the label of a field of a bot's page, or the name itself if the form does not have the field. */
export function formatFieldName(name: string, text: Messages['text']): string {
  const key = `field.${name}`;
  const label = text(key as MessageKey);
  return label === key || otherFields.has(name) ? name : label;
}

/** Fields that only other forms have. */
const otherFields = new Set(['id', 'locale', 'collection', 'title', 'bots']);
