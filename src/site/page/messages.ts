import type { Category } from '../../bot/schema-types.ts';

/** The language of the pages themselves; a bot's own texts are in its languages. */
export const interfaceLanguage = 'en';

/** The texts of the pages, apart from those of bots. */
export const messages = {
  product: 'Botshelf',
  tagline: 'Find a bot for your server.',
  demo: 'This is a demo: its bots are invented, and everything is deleted when it ends.',
  newBots: 'New bots',
  skip: 'Skip to the content',
  navigation: 'Main',
  browse: 'Browse',
  add: 'Add a bot',
  api: 'API',
  apiTitle: 'API',
  apiIntroduction:
    'All listings are available as JSON, without a key and from any website. Bot owners post server counts and small edits with their bot’s token. The machine-readable description:',
  logIn: 'Log in',
  logOut: 'Log out',
  signedInAs: 'Logged in as',
  footer: 'Every listing is open: anyone can suggest an edit.',
  operator: 'Operator:',
  source: 'Source repository',

  searchLabel: 'Search bots',
  searchPlaceholder: 'What should the bot do?',
  searchButton: 'Search',
  sortLabel: 'Sort by',
  sorts: {
    relevance: 'Best match',
    popular: 'Most servers',
    newest: 'Newest',
    edited: 'Recently updated',
    name: 'Name',
    shuffled: 'Random',
  },
  showAdult: 'Include 18+ bots',
  categoriesLabel: 'Categories',
  allBots: 'All',
  categoryTitle: (category: Category) => `${categoryNames[category]} bots`,
  found: (bots: number) => (bots === 1 ? '1 bot' : `${integer(bots)} bots`),
  foundFor: (bots: number, query: string) => `${messages.found(bots)} for “${query}”`,
  nothingFound: 'No bots match.',
  nothingFoundFor: (query: string) => `No bots match “${query}”.`,
  nothingFoundAdvice: 'Check the spelling, use fewer words, or browse a category.',
  emptyCatalogue: 'No bots yet.',
  emptyCatalogueAdvice: 'Be the first to add one.',
  seeAll: 'See all bots',
  pagesLabel: 'Pages',
  previousPage: 'Previous',
  nextPage: 'Next',
  pageOf: (page: number, pages: number) => `Page ${integer(page)} of ${integer(pages)}`,
  servers: (count: number) => (count === 1 ? '1 server' : `${integer(count)} servers`),
  shortServers: (count: number) => (count === 1 ? '1 server' : `${shortCounts.format(count)} servers`),
  verified: 'Verified',
  adult: '18+',

  invite: 'Add to server',
  website: 'Website',
  support: 'Support',
  repository: 'Source code',
  about: 'About',
  category: 'Category',
  serverCount: 'Servers',
  prefixes: 'Prefixes',
  customisable: 'each server can change it',
  mentionable: 'or mention the bot',
  mentionOnly: 'Mention the bot',
  authors: 'Authors',
  listed: 'Added',
  edited: 'Updated',
  id: 'ID',
  languages: 'Languages',
  previews: 'Screenshots',
  preview: (number: number, name: string) => `Screenshot ${number} of ${name}`,
  openPicture: 'open at full size',
  showPictures: 'Show images',
  picturesVeiled: 'Images are blurred because this bot is for adults only (18+).',
  noPage: 'The author has not written a page for this bot yet.',
  tooLong: 'This page is too complex to format and is shown as plain text.',
  editPage: 'Suggest an edit',
  history: 'History',
  token: 'Token',
  json: 'JSON',
  thisPage: 'This listing',
  faultsTitle: 'This bot’s files have errors',
  faultsAdvice: 'The last valid version is shown below.',
  faultsBlocking: 'The bot is shown here once they are fixed. This page reloads when a file changes.',

  forOwners: 'Manage',
  noLoginAdvice:
    'You need a token to post server counts and edits. The operator of this site issues one with:',
  facts: 'Details',

  addIntroduction:
    'A listing is a markdown file. Fill in the form and this page creates the file; nothing is saved here. You then send the file to the maintainers as a pull request.',
  required: 'required',
  choose: 'Choose one',
  addCheck: 'Check',
  addFile: 'File',
  addPreview: 'Preview',
  addBegin: 'The file appears here as you fill in the form.',
  addReady: 'Ready to submit.',
  addFaults: (faults: number) =>
    faults === 1 ? '1 field needs attention' : `${integer(faults)} fields need attention`,
  addOpen: 'Continue on the Git host',
  addDownload: 'Download',
  addElsewhere: 'Save the file in your clone of the catalogue at the path above, then open a pull request.',
  fields: {
    id: 'Bot ID',
    locale: 'Language',
    name: 'Name',
    description: 'Description',
    category: 'Category',
    authors: 'Authors',
    invite: 'Invite link',
    website: 'Website',
    support: 'Support server',
    owner: 'GitHub owner',
    repo: 'Repository',
    avatar: 'Avatar',
    cover: 'Cover',
    preview: 'Screenshots',
    prefix: 'Prefixes',
    customisable: 'Each server can change the prefix',
    mentionable: 'Mentioning the bot works too',
    nsfw: 'For adults only (18+)',
    page: 'Page',
  },
  hints: {
    locale: 'The language of this listing, such as en, en-GB, fr or zh-CN.',
    description: 'One sentence, up to 200 characters.',
    authors: 'Account IDs: digits only, separated by spaces.',
    invite: 'The link that adds the bot to a server.',
    avatar: 'Link to a square image, 256 px or more.',
    cover: 'Link to a wide image.',
    preview: 'Links to up to 20 images, one per line.',
    prefix: 'Up to 10, one per line, at most 32 characters each. A space at the end counts.',
    page: 'What the bot does and how to use it, in Markdown. Some HTML works too.',
  },

  notFoundText: 'The address may be wrong, or the page may have moved.',
  notFoundSearch: 'Search by name:',
} as const;

/** The name of each category. */
export const categoryNames: Readonly<Record<Category, string>> = {
  education: 'Education',
  entertainment: 'Entertainment',
  fun: 'Fun',
  games: 'Games',
  image: 'Images',
  moderation: 'Moderation',
  music: 'Music',
  news: 'News',
  notifications: 'Notifications',
  other: 'Other',
  productivity: 'Productivity',
  utility: 'Utility',
};

/** Makes a sentence of a clause: with a capital letter and a full stop. */
export function asSentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;
}

/** Formats a whole number in the language of the pages. */
export function integer(value: number): string {
  return integers.format(value);
}

/** Formats a day in UTC, in the language of the pages. @param time milliseconds since the epoch */
export function day(time: number): string {
  return days.format(time);
}

const integers = new Intl.NumberFormat(interfaceLanguage);
const shortCounts = new Intl.NumberFormat(interfaceLanguage, { notation: 'compact' });
const days = new Intl.DateTimeFormat(interfaceLanguage, { dateStyle: 'long', timeZone: 'UTC' });
