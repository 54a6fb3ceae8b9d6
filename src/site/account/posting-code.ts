import type { BotId } from '../../bot/id.ts';

/** A sample that posts a bot's count, ready to paste. */
export interface PostingCode {
  readonly title: string;
  readonly code: string;
}

/**
 * Returns samples that post a bot's count, with the bot's address filled in. The token comes from the environment variable
 * BOTSHELF_TOKEN, so that it is in no file.
 * @param baseUrl the public address, without a slash at its end
 */
export function createPostingCode(baseUrl: string, id: BotId): readonly PostingCode[] {
  const address = `${baseUrl}/api/v2/bots/${id}`;
  return [
    {
      title: 'curl',
      code: `curl ${address} \\
  -H "Authorization: $BOTSHELF_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"bot": {"count": 156}}'
`,
    },
    {
      title: 'JavaScript, discord.js 14',
      code: `import { Client, Events, GatewayIntentBits } from 'discord.js';

const client = new Client({ intents: [GatewayIntentBits.Guilds] });

async function postCount() {
  const response = await fetch('${address}', {
    method: 'POST',
    headers: {
      Authorization: process.env.BOTSHELF_TOKEN,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({ bot: { count: client.guilds.cache.size } }),
  });
  if (!response.ok) console.error('The count was not posted:', await response.text());
}

client.once(Events.ClientReady, () => {
  const post = () => postCount().catch(console.error);
  post();
  setInterval(post, 30 * 60 * 1000);
});

client.login(process.env.DISCORD_TOKEN);
`,
    },
    {
      title: 'Python, discord.py',
      code: `import os

import aiohttp
import discord
from discord.ext import tasks


class Bot(discord.Client):
    async def setup_hook(self):
        self.post_count.start()

    @tasks.loop(minutes=30)
    async def post_count(self):
        async with aiohttp.ClientSession() as session:
            response = await session.post(
                "${address}",
                headers={"Authorization": os.environ["BOTSHELF_TOKEN"]},
                json={"bot": {"count": len(self.guilds)}},
            )
            if not response.ok:
                print("The count was not posted:", await response.text())

    @post_count.before_loop
    async def wait(self):
        await self.wait_until_ready()


Bot(intents=discord.Intents.default()).run(os.environ["DISCORD_TOKEN"])
`,
    },
  ];
}
