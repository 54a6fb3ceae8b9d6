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

/** What a form makes: a preview, then the file or what changes in it, and the ways to submit it. */
export function Outcome(props: OutcomeProps): VNode {
  const { t } = useLanguage();
  const { entry, before, bot, html } = props;
  return (
    <>
      <h2 id="outcome-title">{t('add.preview')}</h2>
      <Preview bot={bot} page={entry.page} html={html} />
      <h2>{t(before === null ? 'add.file' : 'edit.change')}</h2>
      {entry.path !== undefined && (
        <p class="muted">
          <code id="path">{entry.path}</code>
        </p>
      )}
      {props.isStale && <p class="notice">{t('edit.stale')}</p>}
      {before === null ? <File text={entry.text} /> : <Change before={before} after={entry.text} />}
      {Object.keys(entry.faults).length === 0 && entry.text !== before && <Submit {...props} />}
    </>
  );
}

function File({ text }: { readonly text: string }): VNode {
  const { text: inLanguage } = useLanguage();
  return (
    <pre class="whole" id="file" tabIndex={0} aria-label={inLanguage('add.file')}>
      {text}
    </pre>
  );
}

function Change({ before, after }: { readonly before: string; readonly after: string }): VNode {
  const { t } = useLanguage();
  if (before === after) return <p>{t('edit.unchanged')}</p>;
  return (
    <>
      <Diff before={before} after={after} />
      <details>
        <summary>{t('edit.whole')}</summary>
        <File text={after} />
      </details>
    </>
  );
}

function Submit({ site, entry, before, download }: OutcomeProps): VNode {
  const { t, text, href } = useLanguage();
  const { repository } = site;
  const { path = '' } = entry;
  const editor =
    before === null
      ? repository?.create(path, entry.text)
      : repository && { href: repository.edit(path), filled: false };
  return (
    <>
      {editor?.filled !== true && (
        <p class="muted">{t(editor ? (before === null ? 'add.paste' : 'edit.paste') : 'add.elsewhere')}</p>
      )}
      <ul class="actions">
        {editor && (
          <li>
            <a class="button" href={editor.href} target="_blank" rel="noopener">
              {repository?.host ? t('add.continue', { host: repository.host }) : t('add.open')}
            </a>
          </li>
        )}
        <li>
          <button class="quiet" type="button" data-copy="file" data-copied={text('token.copied')} hidden>
            {t('add.copy')}
          </button>
        </li>
        <li>
          <button class="quiet" type="submit" formAction={href(download)}>
            {t('add.download')}
          </button>
        </li>
      </ul>
    </>
  );
}
