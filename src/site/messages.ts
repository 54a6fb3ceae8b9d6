import type { Category } from '../bot/schema-types.ts';

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
  logIn: 'Log in',
  logOut: 'Log out',
  signedInAs: 'Logged in as',
  footer: 'Every bot here is a markdown file in a Git repository.',
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
  nothingFoundAdvice: 'Try fewer or other words, or look at a whole category.',
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

  forOwners: 'For its owner',
  noLoginAdvice:
    'To post server counts and edits you need a token. The operator of this site issues it with:',
  facts: 'Facts',
  post: 'How to post',

  notFoundTitle: 'There is nothing here',
  notFoundText: 'The address may be mistyped, or what was here has moved.',
  unknownBotTitle: 'There is no such bot',
  unknownBotText: (id: string) => `No bot on this shelf has the id ${id}. It may have been taken off.`,
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
