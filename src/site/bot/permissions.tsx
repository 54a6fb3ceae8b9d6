import type { VNode } from 'preact';
import { type InvitePermissions, readInvite, splitByHarm, type StatedPermissions } from '../../bot/invite.ts';
import { namePermissions, OtherScopes } from '../page/elements.tsx';
import { useLanguage } from '../page/page-context.tsx';

/**
 * The permissions that a bot's invite link requests, if the link can be read: the number of harmful ones, which opens
 * the whole list.
 */
export function Permissions({ invite }: { readonly invite: string }): VNode {
  const { t } = useLanguage();
  const read = readInvite(invite);
  return (
    <details class="panel permissions-panel">
      <summary>
        <h2 id={permissionsId}>{t('permissions.title')}</h2>
        <p>{read === undefined ? t('permissions.notKnown') : <Summary {...read} />}</p>
      </summary>
      {read !== undefined && (
        <>
          {read.joins && typeof read.permissions !== 'string' && <Stated {...read.permissions} />}
          <OtherScopes scopes={read.scopes} />
          <p class="muted">
            <small>{t('permissions.source')}</small>
          </p>
        </>
      )}
    </details>
  );
}

/** The id of the heading of permissions. */
export const permissionsId = 'permissions';

function Summary({ permissions, joins }: InvitePermissions): VNode {
  const { t } = useLanguage();
  if (!joins) return <>{t('permissions.commandsOnly')}</>;
  if (typeof permissions === 'string') return <>{t(`permissions.${permissions}`)}</>;
  if (permissions.administrator) return <strong class="warning">{t('permissions.fullControl')}</strong>;
  const [harmful, others] = splitByHarm(permissions);
  if (harmful.length + others === 0) return <>{t('permissions.none')}</>;
  return (
    <>
      {harmful.length > 0 ? (
        <span class="harm">{t('permissions.harm', { count: harmful.length })}</span>
      ) : (
        t('permissions.harmless')
      )}
      {others > 0 && <> · {t('permissions.others', { count: others })}</>}
    </>
  );
}

/** The harmful permissions, then the others, folded. */
function Stated(stated: StatedPermissions): VNode {
  const { t } = useLanguage();
  const { administrator } = stated;
  const named = namePermissions(stated, t);
  const [harmful = [], others = []] = [true, false].map((isHarmful) =>
    named.flatMap(({ key, name, ...own }) => (own.isHarmful === isHarmful ? <li key={key}>{name}</li> : [])),
  );
  return (
    <>
      {administrator && <p class="notice warn">{t('permissions.administratorMeans')}</p>}
      {harmful.length > 0 && <ul class="permissions harmful">{harmful}</ul>}
      {others.length > 0 && (
        <details>
          <summary>{t('permissions.others', { count: others.length })}</summary>
          <ul class="permissions">{others}</ul>
        </details>
      )}
      {!administrator && <p class="muted">{t('permissions.notAdministrator')}</p>}
    </>
  );
}
