import type { BotId } from '../../bot/id.ts';
import { clientPackages } from '../page/client-packages.ts';

/** A sample that posts a bot's count, ready to paste. */
export interface PostingCode {
  readonly title: string;
  readonly code: string;
}

/**
 * Returns samples that post a bot's count, two of them with the clients in `clients/`, with the bot's address filled in. The token comes from the environment variable
 * BOTSHELF_TOKEN, so that it is in no file.
 * @param baseUrl the public address, without a slash at its end
 */
export function createPostingCode(baseUrl: string, id: BotId): readonly PostingCode[] {
  return [
    {
      title: 'curl',
      code: `curl ${baseUrl}/api/v2/bots/${id} \\
  -H "Authorization: $BOTSHELF_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"bot": {"count": 156}}'
`,
    },
    {
      title: 'JavaScript, discord.js 14',
      code: `// npm install ${clientPackages.npm(baseUrl)} discord.js
import { autopost } from '@botshelf/client';
import { Client, Events, GatewayIntentBits } from 'discord.js';

const client = new Client({ intents: [GatewayIntentBits.Guilds] });

client.once(Events.ClientReady, () => {
  autopost({
    baseUrl: '${baseUrl}',
    id: '${id}',
    token: process.env.BOTSHELF_TOKEN,
    count: () => client.guilds.cache.size,
  });
});

client.login(process.env.DISCORD_TOKEN);
`,
    },
    {
      title: 'Python, discord.py',
      code: `# pip install ${clientPackages.pip(baseUrl)} discord.py
import asyncio
import os

import botshelf
import discord


class Bot(discord.Client):
    async def setup_hook(self):
        posting = botshelf.autopost_async(
            "${baseUrl}",
            "${id}",
            os.environ["BOTSHELF_TOKEN"],
            lambda: len(self.guilds) if self.is_ready() else None,
        )
        self.posting = asyncio.create_task(posting)


Bot(intents=discord.Intents.default()).run(os.environ["DISCORD_TOKEN"])
`,
    },
  ];
}
