import type { RenderableProps, VNode } from 'preact';
import {
  type InvitePermissions,
  type PermissionSubject,
  readInvite,
  type StatedPermissions,
} from '../../bot/invite.ts';
import type { MessageKey, Messages } from '../language/messages.tsx';
import { usePage } from './page-context.tsx';

interface LabelProps {
  readonly invite: string;
}

/** The label of a bot: the permissions that its invite link asks for. Folded on small screens, where it shows the signs. */
export function PermissionLabel({ invite }: LabelProps): VNode {
  const { t, text } = usePage();
  const read = readInvite(invite);
  return (
    <details class="ingredients">
      <summary>
        <h2 id={labelId}>{t('permissions.title')}</h2>
        <p class="signs" aria-hidden="true">
          {listLabelRows(invite, text).map(({ word, harmful }) => (
            <SignedWord key={word} isHarmful={harmful.length > 0}>
              {t(word)}
            </SignedWord>
          ))}
        </p>
      </summary>
      <dl>
        <PermissionRows invite={invite} />
      </dl>
      {read && (
        <p>
          {read.joins && typeof read.permissions === 'object' && !read.fullControl && (
            <>
              <b>{t('permissions.notAdministrator')}</b>
              <br />
            </>
          )}
          {t('permissions.source')}
        </p>
      )}
      {read && <OtherScopes scopes={read.scopes} />}
    </details>
  );
}

/** The rows of the label, in the open. */
export function BriefPermissions({ invite }: LabelProps): VNode {
  return (
    <dl class="ingredients brief">
      <PermissionRows invite={invite} />
    </dl>
  );
}

type SignsProps = LabelProps & { readonly id?: string; readonly page?: string };

/**
 * A link to the label, with the subjects that the bot can do harm to.
 * @param props.id the id of the link
 * @param props.page the address of the page with the label; by default this page
 */
export function PermissionSigns({ invite, id, page = '' }: SignsProps): VNode {
  const { t, text } = usePage();
  const rows = listLabelRows(invite, text);
  const harmful = rows.filter((row) => row.harmful.length > 0);
  const [sentence] = rows.length === 1 ? (rows[0]?.others ?? []) : [];
  return (
    <a id={id} class="signs" href={`${page}#${labelId}`}>
      {readInvite(invite)?.fullControl ? (
        <SignedWord isHarmful>{t('permissions.fullControl')}</SignedWord>
      ) : harmful.length === 0 ? (
        <SignedWord isHarmful={false}>{sentence ?? t('permissions.harmless')}</SignedWord>
      ) : (
        <>
          <span>{t('permissions.canHarm')}</span>{' '}
          {harmful.map(({ word }) => (
            <SignedWord key={word} isHarmful>
              {t(word)}
            </SignedWord>
          ))}
        </>
      )}
    </a>
  );
}

/** The id of the heading of the label. */
const labelId = 'permissions';

/** A word with a sign. @param props.isHarmful whether it is about permissions that can do harm */
function SignedWord({ isHarmful, children }: RenderableProps<{ readonly isHarmful: boolean }>): VNode {
  return (
    <span class={isHarmful ? 'harm' : undefined}>
      {toSign(isHarmful)}
      {children}{' '}
    </span>
  );
}

function toSign(isHarmful: boolean): VNode {
  return (
    <span class="sign" aria-hidden="true">
      {isHarmful && '!'}
    </span>
  );
}

function PermissionRows({ invite }: LabelProps): VNode {
  const { t, text } = usePage();
  const rows = listLabelRows(invite, text).map(({ title, harmful, others }) => {
    const names = others.join(', ');
    return (
      <div key={title} class={harmful.length > 0 ? 'harm' : undefined}>
        {toSign(harmful.length > 0)}
        <dt>{t(title)}</dt>
        <dd>
          {harmful.length > 0 && <span class="out-of-sight">{t('permissions.harmful')}: </span>}
          {harmful.join(', ') || names || t('permissions.none')}
          {harmful.length > 0 && names && <p class="muted">{t('permissions.also', { names })}</p>}
        </dd>
      </div>
    );
  });
  return <>{rows}</>;
}

/** A row of the label: one subject, or all that is known. */
export interface LabelRow {
  /** The keys of its title, and of a word that stands for it. */
  readonly title: MessageKey;
  readonly word: MessageKey;
  /** The names of the permissions that can do harm, and of the others. */
  readonly harmful: readonly string[];
  readonly others: readonly string[];
}

/** Returns the rows of the label of an invite link: three, or one if it asks for everything or does not say. */
export function listLabelRows(invite: string, text: Messages['text']): LabelRow[] {
  const read = readInvite(invite);
  const toRow = (word: 'compare.notStated' | 'permissions.none', sentence: MessageKey): LabelRow[] => [
    { title: word, word, harmful: [], others: [text(sentence)] },
  ];
  if (read === undefined) return toRow('compare.notStated', 'permissions.ownSite');
  const { permissions, joins, fullControl } = read;
  if (!joins) return toRow('permissions.none', 'permissions.commandsOnly');
  if (typeof permissions === 'string') return toRow('compare.notStated', `permissions.${permissions}`);
  const named = fullControl
    ? [{ subject: 'everything', name: text('permissions.administratorMeans'), isHarmful: true } as const]
    : namePermissions(permissions, text);
  const subjects = fullControl ? (['everything'] as const) : (['members', 'server', 'messages'] as const);
  return subjects.map((subject) => {
    const [harmful = [], others = []] = [true, false].map((isHarmful) =>
      named.flatMap((own) => (own.subject === subject && own.isHarmful === isHarmful ? [own.name] : [])),
    );
    return { title: `permissions.to.${subject}`, word: `permissions.${subject}`, harmful, others };
  });
}

interface NamedPermission {
  readonly key: string;
  readonly name: string;
  readonly subject: PermissionSubject;
  readonly isHarmful: boolean;
}

/** Names permissions, most powerful first, and bits without a documented meaning. */
export function namePermissions(
  { groups, unknownBits }: StatedPermissions,
  text: Messages['text'],
): NamedPermission[] {
  const known = groups.flatMap(({ permissions, ...group }) =>
    permissions.map((key) => ({ key, name: text(`permission.${key}`), ...group })),
  );
  const unknown = unknownBits.map((bit) => ({ key: `${bit}`, name: text('permissions.unknown', { bit }) }));
  return [...known, ...unknown.map((bit) => ({ ...bit, subject: 'server' as const, isHarmful: false }))];
}

/** The requests of an invite link in addition to a bot and its commands. */
export function OtherScopes({ scopes }: Pick<InvitePermissions, 'scopes'>): VNode | null {
  const { t } = usePage();
  const others = scopes.filter((scope) => scope !== 'bot' && scope !== 'applications.commands');
  if (others.length === 0) return null;
  return <p>{t('permissions.otherScopes', { scopes: <code>{others.join(', ')}</code> })}</p>;
}
