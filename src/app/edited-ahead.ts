import type { BotIndex } from '../catalogue/store/bot-index.ts';
import { maxLeadMs } from '../counts/bot-state.ts';

/** Returns a function that names the bot whose page was edited last, if that is ahead of this machine's clock; else null. */
export function createEditedNotice(bots: Pick<BotIndex, 'version' | 'all'>): () => string | null {
  let version: number | undefined;
  let id = '';
  let edited = 0;
  return () => {
    if (version !== bots.version) {
      version = bots.version;
      edited = 0;
      for (const bot of bots.all())
        if (bot.facts.edited > edited)
          ({
            id,
            facts: { edited },
          } = bot);
    }
    if (edited <= Date.now() + maxLeadMs) return null;
    const time = new Date(edited).toISOString();
    return `"edited" of the bot ${id} is ${time}, which is ahead of this machine's clock: run "timedatectl set-ntp true" on all machines, and set it back in the page`;
  };
}
