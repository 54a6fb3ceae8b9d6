import type { VNode } from 'preact';
import { useLanguage } from '../language/page-language.tsx';
import type { AddField } from './add-fields.ts';
import type { FieldFault } from './field-faults.ts';

export interface FieldProps {
  readonly field: AddField;
  readonly text: string | undefined;
  readonly fault: FieldFault | undefined;
}

/** A field of the form with its label, its hint and what is wrong with it. */
export function Field({ field, text, fault }: FieldProps): VNode {
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
      <Control field={field} text={text ?? ''} common={common} />
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

interface ControlProps {
  readonly field: AddField;
  readonly text: string;
  readonly common: { readonly id: string; readonly name: string };
}

function Control({ field, text, common }: ControlProps): VNode {
  const { text: inLanguage, categories, categoryName } = useLanguage();
  const { kind, placeholder } = field;
  switch (kind) {
    case 'category':
      return (
        <select {...common}>
          <option value="">{inLanguage('add.choose')}</option>
          {categories.map((category) => (
            <option key={category} value={category} selected={category === text}>
              {categoryName(category)}
            </option>
          ))}
        </select>
      );
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
