import type { BotIndex, IndexedBot } from '../catalogue/store/bot-index.ts';
import { maxLeadMs } from '../counts/bot-state.ts';

/** Returns a function that names the bot whose page was edited last, if that is ahead of this machine's clock; else null. */
export function createEditedNotice(bots: Pick<BotIndex, 'version' | 'all'>): () => string | null {
  let version: number | undefined;
  let last: IndexedBot | undefined;
  return () => {
    if (version !== bots.version) {
      version = bots.version;
      last = undefined;
      for (const bot of bots.all()) if (!last || bot.facts.edited > last.facts.edited) last = bot;
    }
    if (last === undefined || last.facts.edited <= Date.now() + maxLeadMs) return null;
    const time = new Date(last.facts.edited).toISOString();
    return `"edited" of the bot ${last.id} is ${time}, which is ahead of this machine's clock: run "timedatectl set-ntp true" on all machines; the next edit on the site or by a post sets it right`;
  };
}
