import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Router } from '@koa/router';
import type { BotId } from '../../bot/id.ts';
import { createDocument, send } from '../../http/representation.ts';

/** A sample that posts a bot's count, ready to paste. */
interface PostingCode {
  readonly title: string;
  readonly code: string;
}

/**
 * Returns samples that post a bot's count, two of them with the clients in `clients/`, with the bot's address filled
 * in. The token comes from the environment variable BOTSHELF_TOKEN, to keep it out of files.
 * @param baseUrl the public address, without a final slash
 */
export function createPostingCode(baseUrl: string, id: BotId): readonly PostingCode[] {
  const packageAddress = toPackageAddress(baseUrl, '.tgz');
  return [
    {
      title: 'curl',
      code: `curl ${baseUrl}/api/v2/bots/${id} \\
  -H "Authorization: $BOTSHELF_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"bot": {"count": 156}}' --retry 5 --retry-connrefused
`,
    },
    {
      title: 'JavaScript, discord.js 14',
      code: `// curl -fLO ${packageAddress}
// npm install .${packageAddress.slice(packageAddress.lastIndexOf('/'))} discord.js
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
      code: `# pip install ${toPackageAddress(baseUrl, '.whl')} discord.py
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

/**
 * Returns the address of a client package on this service: that for npm, or that for pip. The registries do not have the clients yet, so anybody could
 * take their names there; later, these become `@botshelf/client` and `botshelf`. npm 12 does not install a package
 * from an address: it must be downloaded first.
 */
export function toPackageAddress(baseUrl: string, extension: '.tgz' | '.whl'): string {
  return `${baseUrl}/clients/${names.find((name) => name.endsWith(extension))}`;
}

/** Serves the packages of the clients. */
export function addClientRoutes(router: Router): void {
  for (const name of names) {
    const type = name.endsWith('.tgz') ? 'application/gzip' : 'application/zip';
    const content = createDocument(type, readFileSync(`${folder}/${name}`));
    router.get(`/clients/${name}`, async (ctx) => await send(ctx, { ...content, current: () => true }));
  }
}

const folder = fileURLToPath(import.meta.resolve('#packages'));
const names = readdirSync(folder);
