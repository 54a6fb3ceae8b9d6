import type { VNode } from 'preact';
import { findOtherClient, isServerInvite } from '../../bot/invite.ts';
import { useLanguage } from '../language/page-language.tsx';
import type { AddPageProps } from './add-page.tsx';

/** What to reconsider about the invite link. It does not keep the form from being sent: reviewers see it as a warning. */
export function InviteAdvice({ form, texts }: AddPageProps): VNode | null {
  const { t } = useLanguage();
  const { invite = '' } = texts;
  const id = form.listed?.id ?? texts.id?.trim() ?? '';
  if (isServerInvite(invite)) return <>{t('advice.serverInvite')}</>;
  const other = id === '' ? undefined : findOtherClient(invite, [id, form.listed?.oauth]);
  return other === undefined ? null : <>{t('advice.otherBot', { id: other })}</>;
}

/** Says that the person who fills in the form is not among the authors of a new bot, with a button that changes that. */
export function AuthorsAdvice({ form, texts, viewer }: AddPageProps): VNode | null {
  const { t } = useLanguage();
  const authors = texts.authors?.trim() ?? '';
  if (viewer === null || form.kind !== 'add' || authors === '') return null;
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
