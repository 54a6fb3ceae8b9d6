import type { Category } from '../../bot/schema-types.ts';

/** The language that the pages themselves speak; a bot's own words are in its languages. */
export const interfaceLanguage = 'en';

/** Every word of the pages that is not a bot's, in one place. */
export const messages = {
  product: 'Botshelf',
  tagline: 'Find a bot for your server.',
  skip: 'Skip to the content',
  navigation: 'Main',
  browse: 'Browse',
  add: 'Add a bot',
  api: 'API',
  apiTitle: 'The interface',
  apiIntroduction:
    'Everything here can be read as JSON, without a key and from any site. Owners post counts and small edits with the token of their bot. For programs:',
  logIn: 'Log in',
  logOut: 'Log out',
  signedInAs: 'Logged in as',
  footer: 'Every bot here is a markdown file in a Git repository.',
  operator: 'Operator:',
  source: 'The catalogue’s repository',

  searchLabel: 'Search bots',
  searchPlaceholder: 'What should the bot do?',
  searchButton: 'Search',
  sortLabel: 'Sort by',
  sorts: {
    relevance: 'Best match',
    popular: 'Most servers',
    newest: 'Newest',
    edited: 'Recently edited',
    name: 'Name',
    shuffled: 'Shuffled',
  },
  showAdult: 'Show bots for adults',
  categoriesLabel: 'Categories',
  allBots: 'All',
  categoryTitle: (category: Category) => `${categoryNames[category]} bots`,
  found: (bots: number) => (bots === 1 ? '1 bot' : `${integer(bots)} bots`),
  foundFor: (bots: number, query: string) => `${messages.found(bots)} for “${query}”`,
  nothingFound: 'No bot fits.',
  nothingFoundAdvice: 'Try fewer or other words, or look at all there are.',
  emptyCatalogue: 'The shelf is empty.',
  emptyCatalogueAdvice: 'Be the first to put a bot on it.',
  seeAll: 'See all bots',
  pagesLabel: 'Pages',
  previousPage: 'Previous',
  nextPage: 'Next',
  pageOf: (page: number, pages: number) => `Page ${integer(page)} of ${integer(pages)}`,
  servers: (count: number) => (count === 1 ? '1 server' : `${integer(count)} servers`),
  shortServers: (count: number) => (count === 1 ? '1 server' : `${shortCounts.format(count)} servers`),
  verified: 'Verified',
  adult: 'Adults only',

  invite: 'Add to server',
  website: 'Website',
  support: 'Support',
  repository: 'Source code',
  about: 'About',
  category: 'Category',
  serverCount: 'Servers',
  prefixes: 'Prefixes',
  customisable: 'can be changed by each server',
  mentionable: 'or mention the bot',
  mentionOnly: 'Mention the bot',
  authors: 'Authors',
  listed: 'Listed',
  edited: 'Edited',
  id: 'Id',
  languages: 'Languages',
  previews: 'Pictures',
  preview: (number: number, name: string) => `Picture ${number} of ${name}`,
  openPicture: 'opens the whole picture',
  showPictures: 'Show the pictures',
  picturesVeiled: 'The pictures are blurred, because this bot is for adults only.',
  noPage: 'This bot has no page yet.',
  tooLong: 'This page takes too long to lay out and is shown as it was written.',
  editPage: 'Edit this page',
  history: 'History',
  token: 'Token',
  json: 'As JSON',
  thisPage: 'This page',
  faultsTitle: 'This bot’s files have faults',
  faultsAdvice: 'What you see below is the last version that was right.',
  faultsBlocking: 'The bot is shown here as soon as they are mended; this page follows its files.',

  forOwners: 'For its owner',
  noLoginAdvice:
    'To post server counts and edits you need a token. The operator of this site issues it with:',
  facts: 'Facts',

  addIntroduction:
    'A bot is a markdown file. Fill in what you know, and see beside it the file and where it goes; nothing is stored here. You send it to the maintainers as a pull request.',
  required: 'required',
  choose: 'Choose one',
  addCheck: 'Check',
  addFile: 'The file',
  addPreview: 'The page',
  addBegin: 'What you fill in appears here.',
  addReady: 'This file keeps every rule.',
  addFaults: (faults: number) =>
    faults === 1 ? 'One field is not right yet.' : `${integer(faults)} fields are not right yet.`,
  addOpen: 'Open on the Git host',
  addDownload: 'Download',
  addElsewhere:
    'Put the file into your clone of the catalogue at the path above, or copy its text into a new file there, and open a pull request.',
  fields: {
    id: 'Bot id',
    locale: 'Language',
    name: 'Name',
    description: 'Description',
    category: 'Category',
    authors: 'Authors',
    invite: 'Invite',
    website: 'Website',
    support: 'Support',
    owner: 'Owner of the source code',
    repo: 'Name of its repository',
    avatar: 'Avatar',
    cover: 'Cover',
    preview: 'Pictures',
    prefix: 'Prefixes',
    customisable: 'A server can choose its own prefix',
    mentionable: 'Mentioning the bot works too',
    nsfw: 'The bot is for adults only',
    page: 'Page',
  },
  hints: {
    locale: 'The language you write in: en, en-GB, fr, zh-CN.',
    description: 'One sentence, up to 200 characters.',
    authors: 'Account ids, with spaces between them.',
    invite: 'The address where the bot is added to a server.',
    avatar: 'The address of a picture, square.',
    cover: 'The address of a picture, wide.',
    preview: 'Addresses of up to 20 pictures, one a line.',
    prefix: 'Up to 10, one a line, each up to 32 characters; a space at its end is part of it.',
    page: 'Markdown, and some HTML: what the bot does, and how to use it.',
  },

  notFoundText: 'The address may be mistyped, or what was here has moved.',
  notFoundSearch: 'Look for it by name:',
} as const;

/** What the categories are called. */
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

/** A whole number as a reader of the pages writes it. */
export function integer(value: number): string {
  return integers.format(value);
}

/** A day as a reader of the pages writes it, in UTC. @param time ms since the epoch */
export function day(time: number): string {
  return days.format(time);
}

const integers = new Intl.NumberFormat(interfaceLanguage);
const shortCounts = new Intl.NumberFormat(interfaceLanguage, { notation: 'compact' });
const days = new Intl.DateTimeFormat(interfaceLanguage, { dateStyle: 'long', timeZone: 'UTC' });
