import type { VNode } from 'preact';
import { canonicalLocale } from '../../bot/locale.ts';
import { categories } from '../../bot/schemas.ts';
import type { AddEntry } from './add-entry.ts';
import { type AddField, addFields, type FieldTexts } from './add-fields.ts';
import { assets } from '../page/assets.ts';
import { Layout, type Site, type Viewer } from '../page/layout.tsx';
import type { Html } from '../markdown/markdown.ts';
import { useLanguage } from '../language/page-language.tsx';
import { Prose } from '../page/prose.tsx';

export interface AddPageProps {
  readonly site: Site;
  readonly viewer: Viewer | null;
  readonly texts: FieldTexts;
  readonly entry: AddEntry;
  /** The page as readers will see it. */
  readonly html: Html;
  /** Whether the form was sent, so that its errors are shown. */
  readonly sent: boolean;
}

/** The form that creates a bot's file, with the resulting file beside it. */
export function AddPage({ site, viewer, texts, entry, html, sent }: AddPageProps): VNode {
  const { t, text, href } = useLanguage();
  const faults = sent ? entry.faults : {};
  return (
    <Layout site={site} viewer={viewer} title={text('layout.add')} script={assets.addScript.path}>
      <div class="narrow stack">
        <h1>{t('layout.add')}</h1>
        <p class="muted">{t('add.introduction')}</p>
      </div>
      <form class="add" method="post" action={href('/add')} noValidate>
        <div class="fields">
          {addFields.map((group) => (
            <div key={group[0]?.name} class={group.length === 2 ? 'pair' : 'switches'}>
              {group.map((field) => (
                <Field key={field.name} field={field} text={texts[field.name]} fault={faults[field.name]} />
              ))}
            </div>
          ))}
          <div>
            <button type="submit">{t('add.check')}</button>
          </div>
        </div>
        <section id="outcome" class="outcome panel" aria-labelledby="outcome-title">
          <Outcome site={site} entry={entry} sent={sent} />
          {html !== '' && <Preview texts={texts} entry={entry} html={html} />}
        </section>
      </form>
    </Layout>
  );
}

interface FieldProps {
  readonly field: AddField;
  readonly text: string | undefined;
  readonly fault: string | undefined;
}

function Field({ field, text, fault }: FieldProps): VNode {
  const { t } = useLanguage();
  const { name, hint, kind, required } = field;
  const label = t(`field.${name}`);
  const describedBy = [hint !== undefined && `${name}-hint`, `${name}-fault`].filter(Boolean).join(' ');
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
        <p class="hint" id={`${name}-hint`}>
          {t(hint)}
        </p>
      )}
      <p class="fault" id={`${name}-fault`} data-field={name} role="status" lang="en">
        {fault}
      </p>
    </div>
  );
}

interface ControlProps {
  readonly field: AddField;
  readonly text: string;
  readonly common: { readonly id: string; readonly name: string };
}

function Control({ field, text, common }: ControlProps): VNode {
  const { text: inLanguage } = useLanguage();
  const { kind, placeholder } = field;
  if (kind === 'category') {
    return (
      <select {...common}>
        <option value="">{inLanguage('add.choose')}</option>
        {categories.map((category) => (
          <option key={category} value={category} selected={category === text}>
            {inLanguage(`category.${category}`)}
          </option>
        ))}
      </select>
    );
  }
  if (kind === 'page' || kind === 'lines') {
    return (
      <textarea {...common} class={kind} rows={kind === 'page' ? 14 : 3} spellcheck={kind === 'page'}>
        {text}
      </textarea>
    );
  }
  return <input {...common} type="text" value={text} placeholder={placeholder} autocomplete="off" />;
}

function Preview({ texts, entry, html }: Pick<AddPageProps, 'texts' | 'entry' | 'html'>): VNode {
  const { t, locale: own } = useLanguage();
  const locale = canonicalLocale(texts.locale?.trim() ?? '') ?? own;
  return (
    <>
      <h2>{t('add.preview')}</h2>
      <Prose locale={locale} text={entry.page} html={html} />
    </>
  );
}

/** The file, its path, and the ways to submit it. */
function Outcome({ site, entry, sent }: Pick<AddPageProps, 'site' | 'entry' | 'sent'>): VNode {
  const { t, text: inLanguage, href } = useLanguage();
  const { path, text, faults } = entry;
  const open = Object.keys(faults).length;
  const create = open === 0 && path !== undefined ? site.repository?.create(path, text) : null;
  return (
    <>
      <h2 id="outcome-title">{path === undefined ? t('add.file') : <code>{path}</code>}</h2>
      <p class="muted" role="status">
        {open === 0 ? t('add.ready') : sent ? t('add.faults', { count: open }) : t('add.begin')}
      </p>
      <pre class="whole" tabIndex={0} aria-label={inLanguage('add.file')}>
        {text}
      </pre>
      {open === 0 && (
        <ul class="actions">
          {create && (
            <li>
              <a class="button" href={create}>
                {t('add.open')}
              </a>
            </li>
          )}
          <li>
            <button class="quiet" type="submit" formAction={href('/add/file')}>
              {t('add.download')}
            </button>
          </li>
        </ul>
      )}
      {open === 0 && !create && <p class="muted">{t('add.elsewhere')}</p>}
    </>
  );
}
