import { type IndexedBot, parseRecord } from './bot-index.ts';

/** Returns the addresses of the images in all pages of a bot, each once, those of the default language first. */
export function listPageImages(bot: IndexedBot): string[] {
  if (!bot.record.includes('![') && !bot.record.includes('<img')) return [];
  const { contents } = parseRecord(bot);
  return findImages(
    Object.values(contents)
      .map(({ page }) => page)
      .join('\n\n'),
  );
}

/** Returns the addresses of the images in a Markdown text, each once: the first hundred that HTTPS leads to. */
export function findImages(markdown: string): string[] {
  const addresses = new Set<string>();
  for (const [, inMarkdown, inHtml = ''] of markdown.matchAll(imagePattern)) {
    addresses.add(inMarkdown ?? inHtml.replaceAll('&amp;', '&'));
    if (addresses.size === maxImages) break;
  }
  return [...addresses];
}

const imagePattern =
  /!\[[^[\]\n]{0,500}\]\(\s*<?(https:\/\/[^\s<>()"']{1,2000})|<img\b[^<>]{0,500}?\bsrc\s*=\s*["']?(https:\/\/[^\s<>"']{1,2000})/gi;

const maxImages = 100;
