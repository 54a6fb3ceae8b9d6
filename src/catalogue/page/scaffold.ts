import type { MainPage, Translation } from '../../bot/schema-types.ts';

/**
 * Returns the text of a new main page. It fits the schema; placeholders mark what the author must replace.
 * @param author the account of its author
 */
export function createMainPage(now: number, author: string = placeholders.author): string {
  const data: MainPage = {
    name: placeholders.name,
    description: placeholders.description,
    authors: [author],
    category: 'other',
    codehost: { owner: null, repo: null },
    created: now,
    images: { avatar: null, cover: null, preview: [] },
    invite: placeholders.invite,
    nsfw: false,
    support: null,
    trigger: { prefix: [], customisable: false, mentionable: false },
    website: null,
  };
  return formatPage(data, `# ${data.name}\n\n${placeholders.page}\n`);
}

/** Returns the text of a new translation, with the main page's name. */
export function createTranslation({ name }: Translation): string {
  const data: Translation = { name, description: placeholders.translatedDescription };
  return formatPage(data, `# ${name}\n\n${placeholders.translatedPage}\n`);
}

/** The values in a new file that its author must replace. */
const placeholders = {
  name: 'Your bot’s name',
  description: 'Replace this with one sentence that says what the bot does.',
  translatedDescription: 'Replace this with the description in this language.',
  author: '00000000000000000',
  invite: 'https://example.com/replace-with-the-invite',
  page: 'Replace this with the page of your bot, in markdown: what it does, how to use it.',
  translatedPage: 'Replace this with the page of your bot in this language.',
} as const;

const values: ReadonlySet<unknown> = new Set(Object.values(placeholders));

/** Whether a value of the front matter is still a placeholder. */
export function isPlaceholder(value: unknown): boolean {
  return values.has(value);
}

/** Returns a placeholder that is still in a page, such as its heading; undefined when there is none. */
export function findPlaceholder(page: string): string | undefined {
  const { name, page: text, translatedPage } = placeholders;
  return [`# ${name}`, text, translatedPage].find((placeholder) => page.includes(placeholder));
}

function formatPage(data: MainPage | Translation, page: string): string {
  return `---\n${JSON.stringify(data, null, 2)}\n---\n\n${page}`;
}
