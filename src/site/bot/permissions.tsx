import type { VNode } from 'preact';
import { readInvite, type StatedPermissions } from '../../bot/permissions.ts';
import type { PermissionTexts } from './permission-texts.ts';

export interface PermissionsProps {
  readonly invite: string;
  readonly texts: PermissionTexts;
}

/** What the bot's invite link asks for; nothing for a link of another platform. */
export function Permissions({ invite, texts }: PermissionsProps): VNode | null {
  const read = readInvite(invite);
  if (read === undefined) return null;
  const { permissions, scopes } = read;
  const others = scopes.filter((scope) => scope !== 'bot' && scope !== 'applications.commands');
  const withoutBot = scopes.includes('applications.commands') && !scopes.includes('bot');
  return (
    <section class="panel stack" aria-labelledby="permissions">
      <h2 id="permissions">{texts.title}</h2>
      {withoutBot ? <p>{texts.commandsOnly}</p> : <Stated permissions={permissions} texts={texts} />}
      {others.length > 0 && (
        <p>
          {texts.otherScopes} <code>{others.join(', ')}</code>
        </p>
      )}
      <p class="muted">
        <small>{texts.source}</small>
      </p>
    </section>
  );
}

interface StatedProps {
  readonly permissions: StatedPermissions;
  readonly texts: PermissionTexts;
}

function Stated({ permissions, texts }: StatedProps): VNode {
  if (permissions.kind !== 'stated') return <p>{texts[permissions.kind]}</p>;
  const { administrator, groups, unknownBits } = permissions;
  const isEmpty = !administrator && groups.length === 0 && unknownBits.length === 0;
  return (
    <>
      {administrator && (
        <p class="notice">
          <strong>{texts.administrator}</strong> {texts.administratorMeans}
        </p>
      )}
      {groups.map((group) => (
        <div key={group.name}>
          <h3>{texts.groups[group.name]}</h3>
          <ul class="permissions">
            {group.permissions.map((name) => (
              <li key={name}>{texts.names[name]}</li>
            ))}
          </ul>
        </div>
      ))}
      {unknownBits.length > 0 && (
        <ul class="permissions">
          {unknownBits.map((bit) => (
            <li key={bit}>{texts.unknown(bit)}</li>
          ))}
        </ul>
      )}
      {isEmpty && <p>{texts.none}</p>}
      {!administrator && <p class="muted">{texts.notAdministrator}</p>}
    </>
  );
}
