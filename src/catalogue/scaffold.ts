import type { MainPage, Translation } from '../bot/schema-types.ts';

/** The text of a main page to begin with: it keeps every rule, and what is to be replaced says so. */
export function newMainPage(now: number): string {
  const data: MainPage = {
    name: 'Your bot’s name',
    description: 'Replace this with one sentence that says what the bot does.',
    authors: ['00000000000000000'],
    category: 'other',
    codehost: { owner: null, repo: null },
    created: now,
    images: { avatar: null, cover: null, preview: [] },
    invite: 'https://example.com/replace-with-the-invite',
    nsfw: false,
    support: null,
    trigger: { prefix: [], customisable: false, mentionable: false },
    website: null,
  };
  return pageFile(
    data,
    `# ${data.name}\n\nReplace this with the page of your bot, in markdown: what it does, how to use it.\n`,
  );
}

/** The text of a translation to begin with: name and description are those of the main page, to be translated. */
export function newTranslation({ name, description }: Translation): string {
  return pageFile(
    { name, description },
    `# ${name}\n\nReplace this with the page of your bot in this language.\n`,
  );
}

function pageFile(data: MainPage | Translation, page: string): string {
  return `---\n${JSON.stringify(data, null, 2)}\n---\n\n${page}`;
}
