import type { VNode } from 'preact';
import { findOtherClient, isServerInvite } from '../../bot/invite.ts';
import { toCanonicalLocale } from '../../bot/locale.ts';
import { useLanguage } from '../language/page-language.tsx';
import { withoutBidiControls } from '../page/bidi.ts';
import type { AddPageProps } from './add-page.tsx';
import type { FieldName, FormField } from './fields.ts';
import type { FieldFault } from './forms.ts';

interface FieldProps extends AddPageProps {
  readonly field: FormField;
}

/** The fields that can have advice. */
const adviceOf: Partial<Record<FieldName, (props: AddPageProps) => VNode | null>> = {
  invite: InviteAdvice,
  authors: AuthorsAdvice,
};

/** A field of the form with its label, its hint and what is wrong with it. */
export function LabelledField(props: FieldProps): VNode {
  const { t } = useLanguage();
  const { field, file, texts, conflicts, isSent } = props;
  const { name, hint, kind, required } = field;
  const Advice = adviceOf[name];
  const now = conflicts.get(name);
  const fault = isSent ? file.faults[name] : undefined;
  const other = now !== undefined && <PageNow field={field} text={now} />;
  const label = t(`field.${name}`);
  if (kind === 'switch') {
    return (
      <label class="check field">
        <input type="checkbox" id={name} name={name} value="true" checked={texts[name] !== undefined} />
        {label} {other}
      </label>
    );
  }
  return (
    <div class="field">
      <label for={name}>
        {label} {required && <span class="muted">({t('add.required')})</span>}
      </label>
      <Control {...props} fault={fault} />
      {hint !== undefined && (
        <p class="hint" id={`hint-${name}`}>
          {t(hint)}
        </p>
      )}
      {other}
      <p class="fault" id={`fault-${name}`} data-field={name}>
        {fault && <FaultText fault={fault} />}
      </p>
      {Advice && (
        <p class="advice warning" id={`advice-${name}`}>
          <Advice {...props} />
        </p>
      )}
    </div>
  );
}

/** What the page has now in a field. A switch that is on has any text. */
function PageNow({ field, text }: { readonly field: FormField; readonly text: string }): VNode {
  const { t } = useLanguage();
  const shown = field.kind === 'switch' ? (text === '' ? '☐' : '☑') : text || '–';
  return (
    <span class="page-now">
      {t('proposal.pageNow')} <ins dir="auto">{withoutBidiControls(shown)}</ins>
    </span>
  );
}

function FaultText({ fault: { key, values = {}, path } }: { readonly fault: FieldFault }): VNode {
  const { t, href } = useLanguage();
  if (path === undefined) return <>{t(key, values)}</>;
  const links = Object.entries(values).map(([name, text]) => [name, <a href={href(path)}>{text}</a>]);
  return <>{t(key, Object.fromEntries(links))}</>;
}

function Control(props: FieldProps & { readonly fault: FieldFault | undefined }): VNode {
  const { text: inLanguage, categories, categoryName, languageName } = useLanguage();
  const { name, hint, kind, placeholder } = props.field;
  const { languages } = props.form;
  const text = props.texts[name] ?? '';
  const common = {
    id: name,
    name,
    'aria-describedby': `${hint === undefined ? '' : `hint-${name} `}fault-${name}${adviceOf[name] ? ` advice-${name}` : ''}`,
    'aria-invalid': props.fault && ('true' as const),
  };
  const createSelect = (options: ReadonlyMap<string, string>, chosen: string): VNode => (
    <select {...common}>
      <option value="">{inLanguage('add.choose')}</option>
      {[...options].map(([value, label]) => (
        <option key={value} value={value} selected={value === chosen}>
          {label}
        </option>
      ))}
    </select>
  );
  switch (kind) {
    case 'category':
      return createSelect(new Map(categories.map((category) => [category, categoryName(category)])), text);
    case 'language': {
      const sent = toCanonicalLocale(text.trim());
      const all = sent === undefined ? languages : [...languages, sent];
      return createSelect(new Map(all.map((locale) => [locale, languageName(locale)])), sent ?? '');
    }
    case 'page':
    case 'links':
    case 'lines': {
      const size = kind === 'page' ? { class: 'page', rows: 14 } : { class: 'lines', rows: 3 };
      // The first line end in a textarea is not part of its text.
      return <textarea {...common} {...size} dir="auto" spellcheck={kind === 'page'}>{`\n${text}`}</textarea>;
    }
    default:
      return (
        // A line end would be left out.
        <input
          {...common}
          type="text"
          dir="auto"
          value={text.replaceAll('\n', ' ')}
          placeholder={placeholder}
          autocomplete="off"
        />
      );
  }
}

/** What to reconsider about the invite link. It does not keep the form from being sent: reviewers see it as a warning. */
function InviteAdvice({ form, texts }: AddPageProps): VNode | null {
  const { t } = useLanguage();
  const { invite = '' } = texts;
  const id = form.listed?.id ?? texts.id?.trim() ?? '';
  if (isServerInvite(invite)) return <>{t('advice.serverInvite')}</>;
  const other = id === '' ? undefined : findOtherClient(invite, [id, form.listed?.oauth]);
  return other === undefined ? null : <>{t('advice.otherBot', { id: other })}</>;
}

/** Says that the person who fills in the form is not among the authors of a new bot, with a button that changes that. */
function AuthorsAdvice({ form, texts, viewer }: AddPageProps): VNode | null {
  const { t } = useLanguage();
  const authors = texts.authors?.trim() ?? '';
  if (viewer === null || form.mode !== 'add' || authors === '') return null;
  if (authors.split(/[\s,]+/).includes(viewer.id)) return null;
  return (
    <>
      {t('advice.notAuthor')}{' '}
      <button class="quiet" type="submit" name={addedAuthor} value={viewer.id}>
        {t('advice.addMe')}
      </button>
    </>
  );
}

/** The field with the account that the button adds. */
export const addedAuthor = 'addedAuthor';
