import type { VNode } from 'preact';
import { useLanguage } from '../language/page-language.tsx';
import type { AddPageProps } from './add-page.tsx';
import { CopyButton } from '../page/links.tsx';
import { FaultItems } from '../page/faults.tsx';
import { FileDiff } from './file-diff.tsx';
import type { Form } from './forms.ts';
import { Permissions } from '../page/permissions.tsx';
import { Preview } from './preview.tsx';

/** What a form makes: a preview, then what changes in the file, and the file folded away. */
export function Outcome(props: AddPageProps): VNode {
  const { t, text } = useLanguage();
  const { file, form, base, findings } = props;
  const isEdit = form.kind === 'edit';
  const isProfile = form.schema === 'profile';
  const { invite = '' } = form.schema === 'main-page' && file.faults.invite === undefined ? props.texts : {};
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
export function NextStep(props: AddPageProps): VNode | null {
  const { t } = useLanguage();
  const { site, file, form, policy } = props;
  const { repository } = site;
  const { path = '', text, isReady } = file;
  if (!isReady) return null;
  const isEdit = form.kind === 'edit';
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
export function toSubpath({ action }: Form, part: 'file' | 'send'): string {
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
