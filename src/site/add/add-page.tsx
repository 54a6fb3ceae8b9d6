import type { VNode } from 'preact';
import { findOtherClient, isServerInvite } from '../../bot/invite.ts';
import { toCanonicalLocale } from '../../bot/locale.ts';
import type { Finding } from '../../check/check.ts';
import { type ProposalPolicy, maxNoteLength } from '../../proposals/proposal.ts';
import type { MessageKey } from '../language/messages.tsx';
import { useLanguage } from '../language/page-language.tsx';
import { assets } from '../page/assets.ts';
import { withoutBidiControls, CopyButton, Permissions } from '../page/elements.tsx';
import { FaultItems } from '../page/faults.tsx';
import { Layout, type PageProps } from '../page/layout.tsx';
import { BlockedNotice } from '../page/message-pages.tsx';
import type { FieldName, FieldTexts, FormField } from './fields.ts';
import { FileDiff } from './file-diff.tsx';
import type { Form, FormFile, FieldFault } from './forms.ts';
import { Preview, type PreviewProps } from './preview.tsx';

/** A text of the interface that says what happened to a form. */
interface FormMessage {
  readonly key: MessageKey;
  readonly values?: Readonly<Record<string, string | number>>;
}

/** A form with what is filled in, and what happened to it. */
export interface FilledForm {
  readonly form: Form;
  readonly texts: FieldTexts;
  /** The digest of the file that it was filled in with. */
  readonly base: string;
  /** What only the reviewers read. */
  readonly note: string;
  /** The fields that the page and a proposal have changed both, with what the page has now. */
  readonly conflicts: ReadonlyMap<FieldName, string>;
  /** Whether the form was sent, so that its errors are shown. */
  readonly isSent: boolean;
  readonly message: FormMessage | null;
}

interface AddPageProps extends PageProps, PreviewProps, FilledForm {
  readonly file: FormFile;
  /** What is done with a proposal; `off` where the form cannot be sent here. */
  readonly policy: ProposalPolicy;
  /** How long half of the last decisions took, in milliseconds; undefined if there were none. */
  readonly medianWaitMs: number | undefined;
  /** What the check says about the change, for the reviewers. */
  readonly findings: readonly Finding[];
}

/** A form that makes a file of the catalogue: for a new bot, a change or a translation. */
export function AddPage(props: AddPageProps): VNode {
  const { site, viewer, form, file, isSent, policy, medianWaitMs, conflicts, message } = props;
  const { kind, mode, groups, action, title } = form;
  const { t, text, href, duration } = useLanguage();
  const failed = isSent && Object.keys(file.faults).length > 0;
  const sending = policy === 'publish' ? 'proposal.introductionPublish' : 'proposal.introduction';
  const introduction = policy === 'off' || kind !== 'bot' ? form.introduction : sending;
  // A new name is reviewed.
  const isPublished = policy === 'publish' && (kind !== 'profile' || mode === 'edit');
  const named = { name: withoutBidiControls(form.name) };
  return (
    <Layout
      current={mode === 'add' ? '/add' : undefined}
      site={site}
      viewer={viewer}
      title={failed ? text('add.errorTitle', { title: text(title, named) }) : text(title, named)}
      script={assets.addScript.path}
    >
      <div class="narrow stack">
        <h1>{t(title, named)}</h1>
        <p class="muted">
          {t(introduction)}{' '}
          {policy === 'review' &&
            medianWaitMs !== undefined &&
            t('proposal.median', { time: duration(medianWaitMs) })}
        </p>
        <BlockedNotice {...props} />
        {message && !viewer?.blocked && (
          <p id="message" class="notice" role="alert" tabIndex={-1} autofocus>
            {t(message.key, message.values)}
          </p>
        )}
        {conflicts.size > 0 && <Conflicts conflicts={conflicts} />}
        {failed && <Summary {...props} />}
      </div>
      <form class="add" method="post" action={href(action)} noValidate>
        <input type="hidden" name="base" value={form.base} />
        {/* The Enter key presses the first button of a form. */}
        <p hidden>
          <button type="submit" />
        </p>
        <div class="columns">
          <div class="fields">
            {groups.map((group) => (
              <div key={group[0]?.name} class={group.length === 2 ? 'pair' : 'switches'}>
                {group.map((field) => (
                  <LabelledField key={field.name} field={field} {...props} />
                ))}
              </div>
            ))}
            {policy !== 'off' && kind !== 'profile' && <Note {...props} />}
          </div>
          <section
            id="outcome"
            class="outcome panel"
            aria-labelledby="outcome-title"
            tabIndex={-1}
            autofocus={isSent && !failed && message === null}
          >
            <Outcome {...props} />
          </section>
        </div>
        <div class="progress">
          <button type="submit">{t('add.check')}</button>
          {policy !== 'off' && (
            <button class="send" type="submit" formAction={href(toSubpath(form, 'send'))}>
              {t(isPublished ? 'proposal.publish' : 'proposal.send')}
            </button>
          )}
          <p id="progress" role="status">
            <Progress {...props} />
          </p>
          <div id="next">
            <NextStep {...props} />
          </div>
        </div>
      </form>
    </Layout>
  );
}

/** What only the reviewers read, and who else can. */
function Note({ note }: AddPageProps): VNode {
  const { t } = useLanguage();
  return (
    <div class="field">
      <label for="note">{t('proposal.note')}</label>
      <textarea
        id="note"
        name="note"
        class="lines"
        dir="auto"
        rows={3}
        maxLength={maxNoteLength}
        aria-describedby="hint-note"
      >{`\n${note}`}</textarea>
      <p class="hint" id="hint-note">
        {t('proposal.noteHint', { limit: maxNoteLength })} {t('proposal.public')}
      </p>
    </div>
  );
}

/** Every field that the page and the proposal have changed both, with a link to it. */
function Conflicts({ conflicts }: Pick<AddPageProps, 'conflicts'>): VNode {
  const { t } = useLanguage();
  const links = [...conflicts.keys()].map((name, i) => (
    <span key={name}>
      {i > 0 && ', '}
      <a href={`#${name}`}>{t(`field.${name}`)}</a>
    </span>
  ));
  return <p class="notice">{t('proposal.conflicts', { fields: <>{links}</> })}</p>;
}

/** What is left to do, in one line. */
function Progress({ file: { faults, missing, isReady } }: AddPageProps): VNode {
  const { t } = useLanguage();
  const count = Object.keys(faults).length;
  if (missing > 0) return <>{t('add.toGo', { count: missing })}</>;
  if (count > 0) return <>{t('add.faults', { count })}</>;
  return <>{t(isReady ? 'add.ready' : 'edit.unchanged')}</>;
}

/** Every error with a link to its field. It has the focus when the page opens. */
function Summary({ form, file: { faults } }: AddPageProps): VNode {
  const { t } = useLanguage();
  const wrong = form.groups.flat().flatMap(({ name }) => (faults[name] ? [{ name, ...faults[name] }] : []));
  return (
    <section id="errors" class="notice bad" aria-labelledby="errors-title" tabIndex={-1} autofocus>
      <h2 id="errors-title">{t('add.faults', { count: wrong.length })}</h2>
      <ul>
        {wrong.map(({ name, key, values }) => (
          <li key={name}>
            <a href={`#${name}`}>
              {t(`field.${name}`)}: {t(key, values)}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What a form makes: a preview, then what changes in the file, and the file folded away. */
function Outcome(props: AddPageProps): VNode {
  const { t, text } = useLanguage();
  const { file, form, base, findings } = props;
  const isEdit = form.mode === 'edit';
  const isProfile = form.kind === 'profile';
  const { invite = '' } = file.faults.invite === undefined ? props.texts : {};
  return (
    <>
      <h2 id="outcome-title">{t(isProfile ? 'edit.change' : 'add.preview')}</h2>
      {!isProfile && <Preview {...props} retry="add.busy" />}
      {invite !== '' && <Permissions invite={invite} />}
      {isEdit && !isProfile && <h2>{t('edit.change')}</h2>}
      {base !== form.base && <p class="notice">{t('edit.stale')}</p>}
      {(isEdit || isProfile) && <FileDiff before={form.source} after={file.text} />}
      {findings.length > 0 && (
        <div class="notice">
          <p>{t('proposal.findings')}</p>
          <FaultItems faults={findings} />
        </div>
      )}
      <details>
        <summary>
          {t(isEdit ? 'edit.whole' : 'add.file')}{' '}
          {file.path !== undefined && (
            <code id="path" class="muted">
              {file.path}
            </code>
          )}
        </summary>
        <pre class="whole" id="file" tabIndex={0} aria-label={text('add.file')}>
          {file.text}
        </pre>
        {file.isReady && (
          <p class="actions">
            <CopyButton of="file" label="add.copy" />
            <Download {...form} />
          </p>
        )}
      </details>
    </>
  );
}

/** What to do with a file that is right and has changed; folded away where the form itself can be sent. */
function NextStep(props: AddPageProps): VNode | null {
  const { t } = useLanguage();
  const { site, file, form, policy } = props;
  const { repository } = site;
  const { path = '', text, isReady } = file;
  if (!isReady) return null;
  const isEdit = form.mode === 'edit';
  const editor = isEdit
    ? repository && { href: repository.edit(path), filled: false }
    : repository?.create(path, text);
  const isFilled = editor?.filled === true;
  const ways = (
    <>
      {!isFilled && (
        <p class="muted">{t(editor ? (isEdit ? 'edit.paste' : 'add.paste') : 'add.elsewhere')}</p>
      )}
      <p class="actions">
        {editor ? (
          <a class="button" href={editor.href} target="_blank" rel="noopener">
            {repository?.host ? t('add.continue', { host: repository.host }) : t('add.open')}
          </a>
        ) : (
          <Download {...form} />
        )}
        {!isFilled && <CopyButton of="file" label="add.copy" />}
      </p>
    </>
  );
  if (policy === 'off') return ways;
  return (
    <details>
      <summary>{t('proposal.otherWays')}</summary>
      {ways}
    </details>
  );
}

/** Returns the path of a form with one more part at its end. */
function toSubpath({ action }: Form, part: 'file' | 'send'): string {
  return action.replace(/\?|$/, `/${part}$&`);
}

function Download(form: Form): VNode {
  const { t, href } = useLanguage();
  return (
    <button class="quiet" type="submit" formAction={href(toSubpath(form, 'file'))}>
      {t('add.download')}
    </button>
  );
}

interface FieldProps extends AddPageProps {
  readonly field: FormField;
}

/** The fields that can have advice. */
const adviceOf: Partial<Record<FieldName, (props: AddPageProps) => VNode | null>> = {
  invite: InviteAdvice,
  authors: AuthorsAdvice,
};

/** A field of the form with its label, its hint and what is wrong with it. */
function LabelledField(props: FieldProps): VNode {
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
