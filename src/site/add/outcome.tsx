import type { VNode } from 'preact';
import { useLanguage } from '../language/page-language.tsx';
import type { Html } from '../markdown/markdown.ts';
import type { Site } from '../page/layout.tsx';
import type { FormEntry } from './form-entry.ts';
import type { Form } from './forms.ts';
import { Diff } from './diff.tsx';
import { type PreviewedBot, Preview } from './preview.tsx';

export interface OutcomeProps extends Pick<Form, 'before' | 'download'> {
  readonly site: Site;
  readonly entry: FormEntry;
  /** Whether the file has changed since the form was opened. */
  readonly isStale: boolean;
  readonly bot: PreviewedBot;
  readonly html: Html;
}

/** What a form makes: a preview, then what changes in the file, and the file folded away. */
export function Outcome(props: OutcomeProps): VNode {
  const { t, text } = useLanguage();
  const { entry, before, bot, html } = props;
  return (
    <>
      <h2 id="outcome-title">{t('add.preview')}</h2>
      <Preview bot={bot} page={entry.page} html={html} />
      {before !== null && <h2>{t('edit.change')}</h2>}
      {props.isStale && <p class="notice">{t('edit.stale')}</p>}
      {before !== null && <Change before={before} after={entry.text} />}
      <details>
        <summary>
          {t(before === null ? 'add.file' : 'edit.whole')}{' '}
          {entry.path !== undefined && (
            <code id="path" class="muted">
              {entry.path}
            </code>
          )}
        </summary>
        <pre class="whole" id="file" tabIndex={0} aria-label={text('add.file')}>
          {entry.text}
        </pre>
        {isReadyToSend(props) && (
          <ul class="actions">
            <Copy />
            <Download {...props} />
          </ul>
        )}
      </details>
    </>
  );
}

function Change({ before, after }: { readonly before: string; readonly after: string }): VNode {
  const { t } = useLanguage();
  return before === after ? <p>{t('edit.unchanged')}</p> : <Diff before={before} after={after} />;
}

/** Whether the file is right and has changed. */
function isReadyToSend({ entry, before }: OutcomeProps): boolean {
  return Object.keys(entry.faults).length === 0 && entry.text !== before;
}

/** What to do with a file that is right and has changed. */
export function NextStep(props: OutcomeProps): VNode | null {
  const { t } = useLanguage();
  if (!isReadyToSend(props)) return null;
  const { site, entry, before } = props;
  const { repository } = site;
  const { path = '' } = entry;
  const editor =
    before === null
      ? repository?.create(path, entry.text)
      : repository && { href: repository.edit(path), filled: false };
  const isFilled = editor?.filled === true;
  return (
    <>
      {!isFilled && (
        <p class="muted">{t(editor ? (before === null ? 'add.paste' : 'edit.paste') : 'add.elsewhere')}</p>
      )}
      <ul class="actions">
        {editor ? (
          <li>
            <a class="button" href={editor.href} target="_blank" rel="noopener">
              {repository?.host ? t('add.continue', { host: repository.host }) : t('add.open')}
            </a>
          </li>
        ) : (
          <Download {...props} />
        )}
        {!isFilled && <Copy />}
      </ul>
    </>
  );
}

function Copy(): VNode {
  const { t, text } = useLanguage();
  return (
    <li>
      <button class="quiet" type="button" data-copy="file" data-copied={text('token.copied')} hidden>
        {t('add.copy')}
      </button>
    </li>
  );
}

function Download({ download }: Pick<OutcomeProps, 'download'>): VNode {
  const { t, href } = useLanguage();
  return (
    <li>
      <button class="quiet" type="submit" formAction={href(download)}>
        {t('add.download')}
      </button>
    </li>
  );
}
