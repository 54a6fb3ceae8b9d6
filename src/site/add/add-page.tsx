import type { VNode } from 'preact';
import type { Finding } from '../../check/check.ts';
import { maxNoteLength } from '../../proposals/proposal.ts';
import type { ProposalPolicy } from '../../proposals/proposals.ts';
import { useLanguage } from '../language/page-language.tsx';
import { assets } from '../page/assets.ts';
import { withoutBidiControls } from '../page/bidi.ts';
import { BlockedNotice } from '../page/blocked-notice.tsx';
import { Layout, type PageProps } from '../page/layout.tsx';
import { LabelledField } from './field.tsx';
import type { FormFile } from './form-file.ts';
import { isBotForm } from './forms.ts';
import { NextStep, Outcome, toSubpath } from './outcome.tsx';
import type { PreviewProps } from './preview.tsx';
import type { FilledForm } from './sending.ts';

export interface AddPageProps extends PageProps, PreviewProps, FilledForm {
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
  const { kind, groups, action, title } = form;
  const { t, text, href, duration } = useLanguage();
  const failed = isSent && Object.keys(file.faults).length > 0;
  const sending = policy === 'publish' ? 'proposal.introductionPublish' : 'proposal.introduction';
  const isOfBot = isBotForm(form);
  const introduction = policy === 'off' || !isOfBot ? form.introduction : sending;
  // A new name is reviewed.
  const isPublished = policy === 'publish' && (form.schema !== 'profile' || kind === 'edit');
  const named = { name: withoutBidiControls(form.name) };
  return (
    <Layout
      current={kind === 'add' ? '/add' : undefined}
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
            {policy !== 'off' && form.schema !== 'profile' && <Note {...props} />}
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
