import type { VNode } from 'preact';
import { type InvitePermissions, readInvite } from '../../bot/permissions.ts';
import { useLanguage } from '../language/page-language.tsx';

/** The permissions that the bot's invite link requests, as far as the link is one that can be read. */
export function Permissions({ invite }: { readonly invite: string }): VNode {
  const { t } = useLanguage();
  const read = readInvite(invite);
  return (
    <section class="panel stack" aria-labelledby={permissionsId}>
      <h2 id={permissionsId}>{t('permissions.title')}</h2>
      {read === undefined ? <p>{t('permissions.notKnown')}</p> : <Requested {...read} />}
    </section>
  );
}

/** The id of their heading. */
export const permissionsId = 'permissions';

function Requested({ permissions, scopes, joins }: InvitePermissions): VNode {
  const { t } = useLanguage();
  const others = scopes.filter((scope) => scope !== 'bot' && scope !== 'applications.commands');
  return (
    <>
      {joins ? <Stated permissions={permissions} /> : <p>{t('permissions.commandsOnly')}</p>}
      {others.length > 0 && (
        <p>{t('permissions.otherScopes', { scopes: <code>{others.join(', ')}</code> })}</p>
      )}
      <p class="muted">
        <small>{t('permissions.source')}</small>
      </p>
    </>
  );
}

function Stated({ permissions }: Pick<InvitePermissions, 'permissions'>): VNode {
  const { t } = useLanguage();
  if (typeof permissions === 'string') return <p>{t(`permissions.${permissions}`)}</p>;
  const { administrator, groups, unknownBits } = permissions;
  const isEmpty = groups.length === 0 && unknownBits.length === 0;
  return (
    <>
      {administrator && (
        <p class="notice warn">
          <strong class="warning">{t('permissions.fullControl')}</strong>{' '}
          {t('permissions.administratorMeans')}
        </p>
      )}
      {groups.map((group) => (
        <div key={group.name}>
          <h3>{t(`permissions.${group.name}`)}</h3>
          <ul class="permissions">
            {group.permissions.map((name) => (
              <li key={name}>{t(`permission.${name}`)}</li>
            ))}
          </ul>
        </div>
      ))}
      {unknownBits.length > 0 && (
        <ul class="permissions">
          {unknownBits.map((bit) => (
            <li key={bit}>{t('permissions.unknown', { bit })}</li>
          ))}
        </ul>
      )}
      {isEmpty && <p>{t('permissions.none')}</p>}
      {!administrator && <p class="muted">{t('permissions.notAdministrator')}</p>}
    </>
  );
}
