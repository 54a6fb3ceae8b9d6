import type { VNode } from 'preact';
import { toCanonicalLocale, type Locale } from '../../bot/locale.ts';
import { useLanguage } from '../language/page-language.tsx';
import type { AddField } from './add-fields.ts';
import type { FieldFault } from './field-faults.ts';

export interface FieldProps {
  readonly field: AddField;
  readonly text: string | undefined;
  readonly fault: FieldFault | undefined;
  /** The languages to choose from. */
  readonly languages: readonly Locale[];
}

/** A field of the form with its label, its hint and what is wrong with it. */
export function Field({ field, text, fault, languages }: FieldProps): VNode {
  const { t } = useLanguage();
  const { name, hint, kind, required } = field;
  const label = t(`field.${name}`);
  const describedBy = [hint !== undefined && `hint-${name}`, `fault-${name}`].filter(Boolean).join(' ');
  const common = {
    id: name,
    name,
    'aria-describedby': describedBy,
    'aria-invalid': fault === undefined ? undefined : ('true' as const),
  };
  if (kind === 'switch') {
    return (
      <label class="check field">
        <input type="checkbox" id={name} name={name} value="true" checked={text !== undefined} />
        {label}
      </label>
    );
  }
  return (
    <div class="field">
      <label for={name}>
        {label} {required && <span class="muted">({t('add.required')})</span>}
      </label>
      <Control {...{ field, languages, common }} text={text ?? ''} />
      {hint !== undefined && (
        <p class="hint" id={`hint-${name}`}>
          {t(hint)}
        </p>
      )}
      <p class="fault" id={`fault-${name}`} data-field={name}>
        {fault && <FaultText fault={fault} />}
      </p>
    </div>
  );
}

function FaultText({ fault: { key, values = {}, path } }: { readonly fault: FieldFault }): VNode {
  const { t, href } = useLanguage();
  if (path === undefined) return <>{t(key, values)}</>;
  const links = Object.entries(values).map(([name, text]) => [
    name,
    <a key={name} href={href(path)}>
      {text}
    </a>,
  ]);
  return <>{t(key, Object.fromEntries(links))}</>;
}

interface ControlProps extends Pick<FieldProps, 'field' | 'languages'> {
  readonly text: string;
  readonly common: { readonly id: string; readonly name: string };
}

function Control({ field, text, languages, common }: ControlProps): VNode {
  const { categories, categoryName, languageName } = useLanguage();
  const { kind, placeholder } = field;
  switch (kind) {
    case 'category':
      return <Select {...{ text, common }} values={categories} nameOf={categoryName} />;
    case 'language': {
      const sent = toCanonicalLocale(text.trim());
      const values = [...new Set([...languages, ...(sent === undefined ? [] : [sent])])];
      return <Select {...{ common, values }} text={sent ?? ''} nameOf={languageName} />;
    }
    case 'page':
      // The first line end in a textarea is not part of its text.
      return <textarea {...common} dir="auto" class="page" rows={14} spellcheck>{`\n${text}`}</textarea>;
    case 'links':
    case 'lines':
      return (
        <textarea {...common} dir="auto" class="lines" rows={3} spellcheck={false}>{`\n${text}`}</textarea>
      );
    default:
      return (
        <input {...common} type="text" dir="auto" value={text} placeholder={placeholder} autocomplete="off" />
      );
  }
}

interface SelectProps<Value extends string> extends Pick<ControlProps, 'text' | 'common'> {
  readonly values: readonly Value[];
  readonly nameOf: (value: Value) => string;
}

function Select<Value extends string>({ text, common, values, nameOf }: SelectProps<Value>): VNode {
  const { text: inLanguage } = useLanguage();
  return (
    <select {...common}>
      <option value="">{inLanguage('add.choose')}</option>
      {values.map((value) => (
        <option key={value} value={value} selected={value === text}>
          {nameOf(value)}
        </option>
      ))}
    </select>
  );
}
