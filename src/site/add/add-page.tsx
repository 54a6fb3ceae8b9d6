import type { VNode } from 'preact';
import { canonicalLocale } from '../../bot/locale.ts';
import type { AddEntry } from './add-entry.ts';
import { type AddField, addFields, type FieldTexts } from './add-fields.ts';
import { assets } from '../page/assets.ts';
import { Layout, type Site, type Viewer } from '../page/layout.tsx';
import type { Html } from '../markdown/markdown.ts';
import { interfaceLanguage, messages } from '../page/messages.ts';
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
  const faults = sent ? entry.faults : {};
  return (
    <Layout site={site} viewer={viewer} title={messages.add} script={assets.addScript.path}>
      <div class="narrow stack">
        <h1>{messages.add}</h1>
        <p class="muted">{messages.addIntroduction}</p>
      </div>
      <form class="add" method="post" action="/add" noValidate>
        <div class="fields">
          {addFields.map((group) => (
            <div key={group[0]?.name} class={group.length === 2 ? 'pair' : 'switches'}>
              {group.map((field) => (
                <Field key={field.name} field={field} text={texts[field.name]} fault={faults[field.name]} />
              ))}
            </div>
          ))}
          <div>
            <button type="submit">{messages.addCheck}</button>
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
  const { name, label, hint, kind, required } = field;
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
        {label} {required && <span class="muted">({messages.required})</span>}
      </label>
      <Control field={field} text={text ?? ''} common={common} />
      {hint !== undefined && (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
      <p class="fault" id={`${name}-fault`} data-field={name} role="status">
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
  const { kind, placeholder } = field;
  if (typeof kind === 'object') {
    return (
      <select {...common}>
        {Object.entries(kind.options).map(([value, name]) => (
          <option key={value} value={value} selected={value === text}>
            {name === '' ? messages.choose : name}
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
  const locale = canonicalLocale(texts.locale?.trim() ?? '') ?? interfaceLanguage;
  return (
    <>
      <h2>{messages.addPreview}</h2>
      <Prose locale={locale} text={entry.page} html={html} />
    </>
  );
}

/** The file, its path, and the ways to submit it. */
function Outcome({ site, entry, sent }: Pick<AddPageProps, 'site' | 'entry' | 'sent'>): VNode {
  const { path, text, faults } = entry;
  const open = Object.keys(faults).length;
  const create = open === 0 && path !== undefined ? site.repository?.create(path, text) : null;
  return (
    <>
      <h2 id="outcome-title">{path === undefined ? messages.addFile : <code>{path}</code>}</h2>
      <p class="muted" role="status">
        {open === 0 ? messages.addReady : sent ? messages.addFaults(open) : messages.addBegin}
      </p>
      <pre class="whole" tabIndex={0} aria-label={messages.addFile}>
        {text}
      </pre>
      {open === 0 && (
        <ul class="actions">
          {create && (
            <li>
              <a class="button" href={create}>
                {messages.addOpen}
              </a>
            </li>
          )}
          <li>
            <button class="quiet" type="submit" formAction="/add/file">
              {messages.addDownload}
            </button>
          </li>
        </ul>
      )}
      {open === 0 && !create && <p class="muted">{messages.addElsewhere}</p>}
    </>
  );
}
