import type { VNode } from 'preact';
import type { BotRecord } from '../../bot/schema-types.ts';
import type { Viewer } from './layout.tsx';
import { messages } from './messages.ts';

export interface TokenLinkProps {
  readonly bot: Pick<BotRecord, 'id' | 'authors'>;
  /** Null for a visitor, who may be an author that has yet to log in. */
  readonly viewer: Viewer | null;
}

/** The way to the bot's Token page; nothing for somebody who is none of its authors. */
export function TokenLink({ bot, viewer }: TokenLinkProps): VNode | null {
  if (viewer !== null && !bot.authors.includes(viewer.id)) return null;
  return (
    <p>
      <a class="button quiet" href={`/bots/${bot.id}/token`}>
        {messages.token}
      </a>
    </p>
  );
}
