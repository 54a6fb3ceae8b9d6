import type { VNode } from 'preact';
import type { BlockedName } from '../../catalogue/settings/blocked.ts';
import { useLanguage } from '../language/page-language.tsx';
import type { PageProps } from './layout.tsx';
import { OperatorContact } from './operator.tsx';

/**
 * Says that nothing is taken from an account, or with a bot; to a maintainer also why. Null where nothing is blocked.
 * @param blocked the account by default
 */
export function BlockedNotice({
  site,
  viewer,
  blocked: name = viewer?.blocked,
}: PageProps & { readonly blocked?: BlockedName }): VNode | null {
  const { t } = useLanguage();
  if (name === undefined) return null;
  return (
    <p class="notice bad" role="alert">
      {t(name.kind === 'bot' ? 'blocked.bot' : 'blocked.account')}{' '}
      {site.contact !== null && <OperatorContact contact={site.contact} />}{' '}
      {viewer?.toReview !== undefined && name.reason !== undefined && <bdi>{name.reason}</bdi>}
    </p>
  );
}
