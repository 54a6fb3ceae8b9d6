import type { VNode } from 'preact';
import type { InviteChange } from '../../catalogue/changes/compare.ts';
import { mainFields } from '../add/fields.ts';
import { WordDiff } from '../add/file-diff.tsx';
import type { Messages } from '../language/messages.tsx';
import { useLanguage } from '../language/page-language.tsx';
import { Fact } from '../page/fact.tsx';
import type { ShownField, ShownPageChange } from './shown-changes.ts';

export interface ChangedFieldsProps {
  readonly pages: readonly ShownPageChange[];
  readonly invite: InviteChange;
}

/** What changes for a server that adds the bot, and then the fields word by word. */
export function ChangedFields({ pages, invite }: ChangedFieldsProps): VNode {
  const { t, languageName } = useLanguage();
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
            {fields.map((field) => (
              <Fact key={field.name} name={<FieldName name={field.name} />}>
                {state === 'added' ? <div class="typed">{field.after}</div> : <ChangedWords {...field} />}
              </Fact>
            ))}
          </dl>
        </div>
      ))}
    </>
  );
}

function ChangedPermissions({ invite }: Pick<ChangedFieldsProps, 'invite'>): VNode | null {
  const { t, text } = useLanguage();
  const permissions = (['added', 'removed'] as const).flatMap((change) => {
    const { groups, unknownBits } = invite[change];
    const known = groups.flatMap((group) => group.permissions.map((name) => text(`permission.${name}`)));
    const all = [...known, ...unknownBits.map((bit) => text('permissions.unknown', { bit }))];
    const marks = { added: change === 'added', removed: change === 'removed' };
    return all.flatMap((value) => [
      { value, ...marks },
      { value: ' ', added: false, removed: false },
    ]);
  });
  if (permissions.length === 0 && !invite.isUnknown) return null;
  return (
    <dl class="changes">
      <Fact name={t('permissions.title')}>
        <span class="asked">
          <WordDiff words={permissions} />
        </span>{' '}
        {invite.isUnknown && t('permissions.notKnown')}
      </Fact>
    </dl>
  );
}

/** The words of a value that change. Those of a page are folded. */
function ChangedWords({ name, before, after, words }: ShownField): VNode {
  const { t, categoryName } = useLanguage();
  const toShown = (value: string): string => (name === 'category' ? categoryName(value) : value);
  const whole = [
    { value: toShown(before), removed: true, added: false },
    { value: toShown(after), added: true, removed: false },
  ].filter(({ value }) => value !== '');
  if (whole.length === 0) return <>{t('changes.edited')}</>;
  const text = <WordDiff words={(name !== 'category' && words) || whole} />;
  if (name !== 'page') return <div class={name === 'invite' ? 'typed asked' : 'typed'}>{text}</div>;
  if (!words) return <>{t('review.tooMuch')}</>;
  return (
    <details class="typed">
      <summary>{t('review.words')}</summary>
      {text}
    </details>
  );
}

/** The label of a form's field, or a key of the front matter. */
export function FieldName({ name }: { readonly name: string }): VNode {
  const label = formatFieldName(name, useLanguage().text);
  return label === name ? <code>{name}</code> : <>{label}</>;
}

/** Returns the label of a form's field; the name itself where it is a key that the forms do not have. */
export function formatFieldName(name: string, text: Messages['text']): string {
  const field = mainFields.flat().find((known) => known.name === name);
  return field === undefined ? name : text(`field.${field.name}`);
}
