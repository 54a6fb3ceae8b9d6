import type { VNode } from 'preact';
import type { BotRecord } from '../../bot/schema-types.ts';
import { useLanguage } from '../language/page-language.tsx';
import type { Viewer } from './layout.tsx';

export interface TokenLinkProps {
  readonly bot: Pick<BotRecord, 'id' | 'authors'>;
  /** Null for a visitor, who may be an author who is not logged in. */
  readonly viewer: Viewer | null;
}

/** A list item that links to the bot's token page; nothing for an account that is not an author. */
export function TokenLink({ bot, viewer }: TokenLinkProps): VNode | null {
  const { t, href } = useLanguage();
  if (viewer !== null && !bot.authors.includes(viewer.id)) return null;
  return (
    <li>
      <a href={href(`/bots/${bot.id}/token`)}>{t('bot.manage')}</a>
    </li>
  );
}
