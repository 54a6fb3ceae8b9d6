import { type IndexedBot, recordOf } from './bot-index.ts';

/** Returns the addresses of the pictures in all pages of a bot, each once, those of the default language first. */
export function picturesInPages(bot: IndexedBot): string[] {
  if (!bot.record.includes('![') && !bot.record.includes('<img')) return [];
  const { contents } = recordOf(bot);
  return picturesIn(
    Object.values(contents)
      .map(({ page }) => page)
      .join('\n\n'),
  );
}

/** Returns the addresses of the pictures in a Markdown text, each once: the first hundred that HTTPS leads to. */
export function picturesIn(markdown: string): string[] {
  const addresses = new Set<string>();
  for (const [, inMarkdown, inHtml = ''] of markdown.matchAll(picture)) {
    addresses.add(inMarkdown ?? inHtml.replaceAll('&amp;', '&'));
    if (addresses.size === mostPictures) break;
  }
  return [...addresses];
}

const picture =
  /!\[[^[\]\n]{0,500}\]\(\s*<?(https:\/\/[^\s<>()"']{1,2000})|<img\b[^<>]{0,500}?\bsrc\s*=\s*["']?(https:\/\/[^\s<>"']{1,2000})/gi;

const mostPictures = 100;
