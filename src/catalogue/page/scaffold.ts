import type { MainPage, Translation } from '../../bot/schema-types.ts';

/** The text of a main page to begin with: it keeps the schema, and what is to be replaced is a placeholder. */
export function newMainPage(now: number): string {
  const data: MainPage = {
    name: placeholders.name,
    description: placeholders.description,
    authors: [placeholders.author],
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
  return pageFile(data, `# ${data.name}\n\n${placeholders.page}\n`);
}

/** The text of a translation to begin with, which has the main page's name. */
export function newTranslation({ name }: Translation): string {
  const data: Translation = { name, description: placeholders.translatedDescription };
  return pageFile(data, `# ${name}\n\n${placeholders.translatedPage}\n`);
}

/** What stands in a new file until somebody replaces it. */
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

/** Whether a value of the front matter is a placeholder that nobody has replaced. */
export function isPlaceholder(value: unknown): boolean {
  return values.has(value);
}

/** A placeholder that a page still has, its heading with the bot's name among them. */
export function placeholderIn(page: string): string | undefined {
  const { name, page: text, translatedPage } = placeholders;
  return [`# ${name}`, text, translatedPage].find((placeholder) => page.includes(placeholder));
}

function pageFile(data: MainPage | Translation, page: string): string {
  return `---\n${JSON.stringify(data, null, 2)}\n---\n\n${page}`;
}
