import type { RenderableProps, VNode } from 'preact';
import { isExpiring } from '../../bot/address.ts';
import { findOtherClient, isServerInvite, readInvite } from '../../bot/invite.ts';
import { findImages } from '../../catalogue/page/page.ts';
import { usePage } from '../../site/page/page-context.tsx';
import { BotImage } from '../../site/page/elements.tsx';
import { withoutBidiControls } from '../../lib/text.ts';
import { BriefPermissions, OtherScopes } from '../../site/page/permissions.tsx';
import { type FieldName, type FieldTexts, type FormField, parseValue, splitWords } from './fields.ts';
import type { Form, FormFile, FormImage } from './forms.ts';

interface AdviceProps {
  readonly field: FormField;
  readonly form: Form;
  readonly texts: FieldTexts;
  readonly file: Pick<FormFile, 'faults'>;
  /** Empty if images are not cached, because then no page shows them. */
  readonly images: readonly FormImage[];
}

/** Advice below a field while the form is filled in. It never prevents sending, because reviewers see it too. */
export const adviceOf: Partial<Record<FieldName, (props: AdviceProps) => VNode | null>> = {
  invite: InviteAdvice,
  website: WebsiteAdvice,
  authors: AuthorsAdvice,
  avatar: ImagesAdvice,
  cover: ImagesAdvice,
  preview: ImagesAdvice,
  page: ImagesAdvice,
};

/** Shows what the invite link asks for, or why nobody can add the bot with it. */
function InviteAdvice(props: AdviceProps): VNode | null {
  const { form, texts, file } = props;
  const { t } = usePage();
  const { invite = '' } = texts;
  if (invite.trim() === '' || file.faults.invite) return null;
  if (isServerInvite(invite))
    return (
      <Warning>
        {t('advice.serverInvite')} <MoveToSupport {...props} from="invite" />
      </Warning>
    );
  const id = form.listed?.id ?? texts.id?.trim() ?? '';
  const other = id === '' ? undefined : findOtherClient(invite, [id, form.listed?.oauth]);
  if (other !== undefined) return <Warning>{t('advice.otherBot', { id: other })}</Warning>;
  const asked = readInvite(invite);
  if (asked === undefined) return <p class="asks">{t('advice.notReadable')}</p>;
  return (
    <>
      {asked.fullControl && <Warning>{t('advice.fullControl')}</Warning>}
      <BriefPermissions invite={invite} />
      <OtherScopes scopes={asked.scopes} />
    </>
  );
}

function WebsiteAdvice(props: AdviceProps): VNode | null {
  const { t } = usePage();
  if (!isServerInvite(props.texts.website ?? '')) return null;
  return (
    <Warning>
      {t('advice.serverWebsite')} <MoveToSupport {...props} from="website" />
    </Warning>
  );
}

/** The field whose link the button moves to the support server. */
export const movedField = 'moved';

function MoveToSupport(props: AdviceProps & { readonly from: 'invite' | 'website' }): VNode | null {
  const { form, texts, from } = props;
  const { t, href } = usePage();
  if (texts.support?.trim()) return null;
  return (
    <button
      class="plain"
      type="submit"
      name={movedField}
      value={from}
      formAction={`${href(form.action)}#support`}
    >
      {t('advice.moveToSupport')}
    </button>
  );
}

/** Warns that the person who fills in the form is not an author of the new bot, with a button to add them. */
function AuthorsAdvice({ form, texts }: AdviceProps): VNode | null {
  const { viewer, t } = usePage();
  if (viewer === null || form.mode !== 'add' || listAuthors(texts).includes(viewer.id)) return null;
  return (
    <Warning>
      {t('advice.notAuthor')}{' '}
      <button class="plain" type="submit" name={addedAuthor} value={viewer.id}>
        {t('advice.addMe')}
      </button>
    </Warning>
  );
}

/** The field with the account that the button adds. */
export const addedAuthor = 'addedAuthor';

/** The images that a field names, as thumbnails, and addresses that expire or could not be loaded. */
function ImagesAdvice({ field, images, texts }: AdviceProps): VNode | null {
  const { t, text } = usePage();
  const { name } = field;
  const own = images.filter((image) => image.field === name);
  const value = parseValue(field, texts) ?? [];
  const urls = name === 'page' ? findImages(String(value)) : ([value].flat() as string[]);
  const expiring = urls.find(isExpiring);
  const warning =
    expiring === undefined ? null : (
      <Warning>{t('advice.expires', { address: withoutBidiControls(expiring) })}</Warning>
    );
  if (own.length === 0) return warning;
  const sizes = { avatar: 96, cover: 240, preview: 171 } as const;
  return (
    <div class="asks images">
      {warning}
      {own.map(({ url, path }) =>
        path === undefined ? (
          <p key={url}>{t('advice.noImage', { address: withoutBidiControls(url) })}</p>
        ) : (
          <BotImage
            key={url}
            path={path}
            width={sizes[name as keyof typeof sizes]}
            small={name === 'avatar' ? 128 : 320}
            height={96}
            alt={text(`field.${name}`)}
            lazy
            blurred={texts.nsfw !== undefined}
          />
        ),
      )}
    </div>
  );
}

/** Returns the accounts in the field of authors. */
export function listAuthors({ authors = '' }: FieldTexts): string[] {
  return splitWords(authors);
}

function Warning({ children }: RenderableProps<object>): VNode {
  return <p class="asks warn warning">{children}</p>;
}
