import type { VNode } from 'preact';
import { readInvite, type StatedPermissions } from '../../bot/permissions.ts';
import { useLanguage } from '../language/page-language.tsx';

/** The permissions that the bot's invite link requests; nothing for a link of another platform. */
export function Permissions({ invite }: { readonly invite: string }): VNode | null {
  const { t } = useLanguage();
  const read = readInvite(invite);
  if (read === undefined) return null;
  const { permissions, scopes } = read;
  const others = scopes.filter((scope) => scope !== 'bot' && scope !== 'applications.commands');
  const withoutBot = scopes.includes('applications.commands') && !scopes.includes('bot');
  return (
    <section class="panel stack" aria-labelledby="permissions">
      <h2 id="permissions">{t('permissions.title')}</h2>
      {withoutBot ? <p>{t('permissions.commandsOnly')}</p> : <Stated permissions={permissions} />}
      {others.length > 0 && (
        <p>{t('permissions.otherScopes', { scopes: <code>{others.join(', ')}</code> })}</p>
      )}
      <p class="muted">
        <small>{t('permissions.source')}</small>
      </p>
    </section>
  );
}

function Stated({ permissions }: { readonly permissions: StatedPermissions }): VNode {
  const { t } = useLanguage();
  if (permissions.kind !== 'stated') return <p>{t(`permissions.${permissions.kind}`)}</p>;
  const { administrator, groups, unknownBits } = permissions;
  const isEmpty = !administrator && groups.length === 0 && unknownBits.length === 0;
  return (
    <>
      {administrator && (
        <p class="notice">
          <strong>{t('permissions.administrator')}</strong> {t('permissions.administratorMeans')}
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
