import type { VNode } from 'preact';
import { toCanonicalLocale } from '../../bot/locale.ts';
import type { Finding } from '../../check/check.ts';
import { type PastStep, type ProposalPolicy, maxNoteLength } from '../../proposals/proposal.ts';
import { ChangedFields, type ChangedFieldsProps } from '../../site/changes/changed-fields.tsx';
import type { MessageKey } from '../../site/language/messages.tsx';
import { Shelves } from '../../site/front/card.tsx';
import { usePage } from '../../site/page/page-context.tsx';
import { CopyButton, FaultItems } from '../../site/page/elements.tsx';
import { withoutBidiControls } from '../../lib/text.ts';
import {
  type FieldGroups,
  type FieldName,
  type FieldTexts,
  type FormField,
  type FormStep,
  listSteps,
} from './fields.ts';
import { Layout } from '../../site/page/layout.tsx';
import { adviceOf, listAuthors } from './advice.tsx';
import { type Form, type FormFile, type FormImage, type FieldFault, lacksAuthor } from './forms.ts';
import { type FormShelf, shelfField, ShelfField } from './shelf.tsx';
import { BlockedNotice, Checklist, Preview, type PreviewProps, Step } from '../page/elements.tsx';

/** A form with its values and the result of sending it. */
export interface FilledForm {
  readonly form: Form;
  readonly texts: FieldTexts;
  /** The digest of the file when the form was filled in. */
  readonly base: string;
  /** The note to the reviewers; nobody else reads it. */
  readonly note: string;
  /** The words to find a bot by. */
  readonly find: string;
  /** The fields that both the page and the proposal changed, with the current value of the page. */
  readonly conflicts: ReadonlyMap<FieldName, string>;
  /** The last decision, if it asks for changes or declines; null otherwise. */
  readonly answer: PastStep | null;
  /** Whether the values were typed just now. */
  readonly isTyped: boolean;
  /** Whether the form was sent, so that its errors are shown. */
  readonly isSent: boolean;
  /** The result of sending it. */
  readonly message: { readonly key: MessageKey; readonly values?: FieldFault['values'] } | null;
}

interface AddPageProps extends PreviewProps, FilledForm {
  readonly file: FormFile;
  readonly images: readonly FormImage[];
  /** Undefined for a form without a list of bots. */
  readonly shelf: FormShelf | undefined;
  /** The treatment of a proposal; `off` if the form cannot be sent here. */
  readonly policy: ProposalPolicy;
  /** The median time to a decision, in milliseconds; undefined without recent decisions. */
  readonly medianWaitMs: number | undefined;
  /** The checker's findings on the change, for the reviewers. */
  readonly findings: readonly Finding[];
  /** The changes of the file; null for a new one. */
  readonly changes: ChangedFieldsProps | null;
}

/** A form that creates or changes a file of the catalogue. */
export function AddPage(props: AddPageProps): VNode {
  const { form, texts, file, isSent, policy, medianWaitMs, conflicts, answer, message, shelf } = props;
  const { viewer } = usePage();
  const { kind, mode, groups, action } = form;
  const { t, text, href, duration } = usePage();
  const failed = isSent && Object.keys(file.faults).length > 0;
  const sending = policy === 'publish' ? 'proposal.introductionPublish' : 'proposal.introduction';
  const introduction = policy === 'off' || kind !== 'bot' ? form.introduction : sending;
  // A new profile is always reviewed.
  const isPublished = policy === 'publish' && (kind !== 'profile' || mode === 'edit');
  const title = answer ? 'proposal.title' : form.title;
  const named = { name: withoutBidiControls(form.name || (texts.name ?? '')) };
  const steps = listSteps(groups);
  return (
    <Layout
      current={mode === 'add' ? '/add' : undefined}
      title={failed ? text('add.errorTitle', { title: text(title, named) }) : text(title, named)}
      script="addScript"
      form={{ id: formId, action }}
      head={
        <>
          <h1>{t(title, named)}</h1>
          <p class="whole">
            {t(introduction)}{' '}
            {policy === 'review' &&
              medianWaitMs !== undefined &&
              t('proposal.median', { time: duration(medianWaitMs) })}{' '}
            {kind !== 'profile' && (
              <span id="kept" class="with-script">
                {t('add.kept')}
              </span>
            )}
          </p>
        </>
      }
    >
      <div class="narrow stack">
        <p id="restored" class="notice" hidden>
          {t('proposal.loggedIn')} <a href={href(action)}>{t('add.startAgain')}</a>
        </p>
        <BlockedNotice />
        {answer && (
          <section class="notice warn" aria-labelledby="answer">
            <h2 id="answer">{t(`proposal.${answer.state}`)}</h2>
            <Step step={answer} />
          </section>
        )}
        {message && !viewer?.blocked && (
          <p id="message" class="notice" role="alert" tabIndex={-1} autofocus>
            {t(message.key, message.values)}
          </p>
        )}
        {conflicts.size > 0 && (
          <p class="notice">
            {t('proposal.conflicts', { fields: <FieldLinks names={[...conflicts.keys()]} /> })}
          </p>
        )}
        {failed && <Summary {...props} />}
      </div>
      <form
        class="add"
        method="post"
        action={href(action)}
        id={formId}
        noValidate
        data-typed={props.isTyped || undefined}
      >
        {steps.length > 1 && <StepLinks {...props} steps={steps} />}
        {isSent && <input type="hidden" name={sentField} value="true" />}
        <input type="hidden" name="base" value={form.base} />
        {/* The Enter key presses the first button of a form. */}
        <p hidden>
          <button type="submit" {...(shelf && { name: shelfField, value: 'find' })} />
        </p>
        <div class="columns">
          <div class="fields">
            {steps.map((step, i) =>
              steps.length > 1 ? (
                <section
                  key={step.name}
                  id={`step-${step.name}`}
                  class="step"
                  aria-labelledby={`title-${step.name}`}
                >
                  <h2 id={`title-${step.name}`}>
                    <StepNumber number={i + 1} /> {t(stepTitles[step.name])}
                  </h2>
                  <StepFields {...props} step={step} />
                </section>
              ) : (
                <StepFields key={step.name} {...props} step={step} />
              ),
            )}
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
          {policy !== 'off' && (
            <button class="send" type="submit" formAction={href(toSubpath(form, 'send'))}>
              {t(isPublished ? 'proposal.publish' : 'proposal.send')}
            </button>
          )}
          <button type="submit">{t('add.check')}</button>
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

const formId = 'form';

/** The field that says that the form was sent, so that its errors stay after a change of language. */
export const sentField = 'sent';

const stepTitles = { basics: 'step.basics', links: 'step.links', page: 'field.page' } as const;

interface StepsProps extends AddPageProps {
  readonly steps: readonly FormStep[];
}

/** Links to the steps of the form, each with what remains to be done. */
function StepLinks({ steps, file: { faults, missing } }: StepsProps): VNode {
  const { t } = usePage();
  const all = steps.map(({ name, groups, folded }) => {
    const fields = [...groups, ...folded].flat();
    const required = fields.filter((field) => field.required).length;
    const isDone = fields.every((field) => faults[field.name] === undefined);
    const filled = required - fields.filter((field) => missing.includes(field.name)).length;
    return { name, required, isDone, filled };
  });
  const current = all.find(({ isDone }) => !isDone);
  return (
    <ol class="steps-nav" id="steps">
      {all.map(({ name, required, isDone, filled }, i) => (
        <li key={name}>
          <a href={`#step-${name}`} aria-current={name === current?.name ? 'step' : undefined}>
            <StepNumber number={required > 0 && isDone ? '✓' : i + 1} />
            {t(stepTitles[name])}
            <small>{required > 0 ? t('step.filled', { filled, required }) : t('step.optional')}</small>
          </a>
        </li>
      ))}
    </ol>
  );
}

function StepNumber({ number }: { readonly number: number | string }): VNode {
  return (
    <span class="numbered" aria-hidden="true">
      {number}
    </span>
  );
}

/** The fields of a step. Those that few bots need are folded. */
function StepFields(props: AddPageProps & { readonly step: FormStep }): VNode {
  const { step, file, texts, isSent, conflicts } = props;
  const { t } = usePage();
  const isOpen = step.folded
    .flat()
    .some(({ name }) => conflicts.has(name) || (isSent && (file.faults[name] || texts[name])));
  return (
    <>
      <Groups {...props} groups={step.groups} />
      {step.folded.length > 0 && (
        <details open={isOpen}>
          <summary>{t('step.more')}</summary>
          <div class="fields">
            <Groups {...props} groups={step.folded} />
          </div>
        </details>
      )}
    </>
  );
}

function Groups(props: AddPageProps & { readonly groups: FieldGroups }): VNode {
  const { groups, form } = props;
  const isNewBot = form.kind === 'bot' && form.mode === 'add';
  return (
    <>
      {groups.map((group) => (
        <div key={group[0]?.name} class={group.length === 2 ? 'pair' : 'switches'}>
          {group.map((field) => {
            const View = field.name === 'authors' && isNewBot ? Authors : LabelledField;
            return <View key={field.name} field={field} {...props} />;
          })}
        </div>
      ))}
    </>
  );
}

/** The author of a new bot is the logged-in account, or the one that logs in to send it. Others can be added. */
function Authors(props: FieldProps): VNode {
  const { field, texts } = props;
  const { viewer, t } = usePage();
  const authors = listAuthors(texts);
  const isOwn = viewer !== null && authors.includes(viewer.id);
  if (viewer === null && field.required) return <LabelledField {...props} />;
  return (
    <div class="field">
      <p class="label">{t('field.authors')}</p>
      {isOwn && <p>{t('add.you', { name: withoutBidiControls(viewer.name) })}</p>}
      {viewer === null && <p>{t('add.authorLater')}</p>}
      <details open={isOwn ? authors.length > 1 : authors.length > 0}>
        <summary>{t('add.otherAuthor')}</summary>
        <LabelledField {...props} />
      </details>
    </div>
  );
}

/** The field for the note to the reviewers. */
function Note({ note }: AddPageProps): VNode {
  const { t } = usePage();
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

function FieldLinks({ names }: { readonly names: readonly FieldName[] }): VNode {
  const { t } = usePage();
  const links = names.map((name, i) => [
    i > 0 && ', ',
    <a key={name} href={`#${name}`}>
      {t(`field.${name}`)}
    </a>,
  ]);
  return <>{links}</>;
}

/** Shows in one line what remains to be done, with links to the first two fields. */
function Progress({ file: { faults, missing, isReady } }: AddPageProps): VNode {
  const { t } = usePage();
  const count = Object.keys(faults).length;
  if (missing.length > 0)
    return (
      <>
        {t('add.toGo', { count: missing.length })}
        {': '}
        <FieldLinks names={missing.slice(0, 2)} />
      </>
    );
  if (count > 0) return <>{t('add.faults', { count })}</>;
  return <>{t(isReady ? 'add.ready' : 'edit.unchanged')}</>;
}

/** Lists every error with a link to its field. The list has the focus when the page opens. */
function Summary({ form, file: { faults } }: AddPageProps): VNode {
  const { t } = usePage();
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

/** The result of a form: a preview, its checklist and the changes. */
function Outcome(props: AddPageProps): VNode {
  const { t, text } = usePage();
  const { form, texts, base, findings, changes, policy, shelf } = props;
  const isProfile = form.kind === 'profile';
  const title = texts.title || text('field.title');
  const listed = (['avatar', 'cover', 'preview', 'page'] as const).map((name) => {
    return { name, isDone: texts[name] !== undefined && texts[name].trim() !== '', href: `#${name}` };
  });
  return (
    <>
      <h2 id="outcome-title">{t(isProfile ? 'edit.change' : 'add.preview')}</h2>
      {shelf && (
        <div inert>
          <Shelves tiles={[{ ...shelf.tile, path: '', title, line: texts.description ?? '' }]} heading="h3" />
        </div>
      )}
      {!isProfile && <Preview {...props} retry="add.busy" />}
      {form.schema === 'main-page' && <Checklist items={listed} />}
      {changes && !isProfile && <h2>{t('edit.change')}</h2>}
      {base !== form.base && <p class="notice">{t('edit.stale')}</p>}
      {changes && changes.pages.length > 0 && <ChangedFields {...changes} />}
      {changes?.pages.length === 0 && <p>{t('edit.unchanged')}</p>}
      {findings.length > 0 && (
        <div class="notice">
          <p>{t('proposal.findings')}</p>
          <FaultItems faults={findings} />
        </div>
      )}
      {policy === 'off' && <WholeFile {...props} />}
    </>
  );
}

/** The whole file, folded, for people who send it themselves. */
function WholeFile({ form, file }: AddPageProps): VNode {
  const { t, text } = usePage();
  return (
    <details>
      <summary>
        {t(form.mode === 'edit' ? 'edit.whole' : 'add.file')}{' '}
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
  );
}

/** The next step with a valid and changed file; folded if the form itself can be sent. */
function NextStep(props: AddPageProps): VNode | null {
  const { t } = usePage();
  const { repository } = usePage().site;
  const { file, form, texts, policy } = props;
  const { path = '', text, isReady } = file;
  if (!isReady || lacksAuthor(form, texts)) return null;
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
      <WholeFile {...props} />
    </details>
  );
}

/** Appends a part to the path of a form. */
function toSubpath({ action }: Form, part: 'file' | 'send'): string {
  return action.replace(/\?|$/, `/${part}$&`);
}

function Download(form: Form): VNode {
  const { t, href } = usePage();
  return (
    <button class="quiet" type="submit" formAction={href(toSubpath(form, 'file'))}>
      {t('add.download')}
    </button>
  );
}

interface FieldProps extends AddPageProps {
  readonly field: FormField;
}

/** A field of the form with its label, hint and errors. */
function LabelledField(props: FieldProps): VNode {
  const { t } = usePage();
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
      <label for={kind === 'bots' ? 'find' : name}>
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
        <div class="advice" id={`advice-${name}`}>
          <Advice {...props} />
        </div>
      )}
    </div>
  );
}

/** The current value of a field on the page. Any text stands for a switch that is on. */
function PageNow({ field, text }: { readonly field: FormField; readonly text: string }): VNode {
  const { t } = usePage();
  const shown = field.kind === 'switch' ? (text === '' ? '☐' : '☑') : text || '–';
  return (
    <span class="page-now">
      {t('proposal.pageNow')} <ins dir="auto">{withoutBidiControls(shown)}</ins>
    </span>
  );
}

function FaultText({ fault: { key, values = {}, path } }: { readonly fault: FieldFault }): VNode {
  const { t, href } = usePage();
  if (path === undefined) return <>{t(key, values)}</>;
  const links = Object.entries(values).map(([name, text]) => [name, <a href={href(path)}>{text}</a>]);
  return <>{t(key, Object.fromEntries(links))}</>;
}

function Control(props: FieldProps & { readonly fault: FieldFault | undefined }): VNode {
  const { text: inLanguage, categories, categoryName, languageName } = usePage();
  const { name, hint, kind } = props.field;
  const { languages, action } = props.form;
  const text = props.texts[name] ?? '';
  if (kind === 'bots' && props.shelf)
    return <ShelfField {...props.shelf} find={props.find} action={action} />;
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
      return createSelect(new Map(all.map((locale) => [locale, languageName(locale, all)])), sent ?? '');
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
        // A line end would be lost in an input.
        <input
          {...common}
          type="text"
          dir="auto"
          value={text.replaceAll('\n', ' ')}
          placeholder={kind === 'link' ? 'https://' : undefined}
          autocomplete="off"
        />
      );
  }
}
