// Generated from the OpenAPI document by `npm run types`; edit the schemas instead.

/**
 * The ids of the accounts that may manage the bot.
 *
 * @minItems 1
 * @maxItems 10
 *
 * Items: A bot or account id. Always a string: a number would lose digits.
 */
export type Authors = string[];
/**
 * The bot's one category: the id of one that the catalogue has.
 */
export type Category = string;
/**
 * A stable address that names the kind of problem. There may be others later.
 */
export type ProblemType =
  | (
      | 'urn:botshelf:problem:bad-query'
      | 'urn:botshelf:problem:bad-json'
      | 'urn:botshelf:problem:no-token'
      | 'urn:botshelf:problem:bad-token'
      | 'urn:botshelf:problem:bad-signature'
      | 'urn:botshelf:problem:other-token'
      | 'urn:botshelf:problem:cross-site'
      | 'urn:botshelf:problem:other-repository'
      | 'urn:botshelf:problem:read-only'
      | 'urn:botshelf:problem:proposal-refused'
      | 'urn:botshelf:problem:not-found'
      | 'urn:botshelf:problem:unknown-bot'
      | 'urn:botshelf:problem:removed-bot'
      | 'urn:botshelf:problem:unknown-cursor'
      | 'urn:botshelf:problem:method-not-allowed'
      | 'urn:botshelf:problem:not-acceptable'
      | 'urn:botshelf:problem:edit-conflict'
      | 'urn:botshelf:problem:precondition-failed'
      | 'urn:botshelf:problem:too-large'
      | 'urn:botshelf:problem:unsupported-type'
      | 'urn:botshelf:problem:invalid-update'
      | 'urn:botshelf:problem:too-many-requests'
      | 'urn:botshelf:problem:bad-request'
      | 'urn:botshelf:problem:unexpected'
      | 'urn:botshelf:problem:writes-unavailable'
      | 'urn:botshelf:problem:busy'
      | 'urn:botshelf:problem:starting'
    )
  | string;
/**
 * A line of an export: a bot, and the files that it is made from.
 */
export type ExportLine = BotRecord & {
  files: FileText[];
};

/**
 * A bot with its pages: GET /api/v2/bots/:id.
 */
export interface BotRecord {
  /**
   * A bot or account id. Always a string: a number would lose digits.
   */
  id: string;
  authors: Authors;
  cachedImages: CachedImages;
  category: Category;
  /**
   * Locale → the bot in that language, the default locale first.
   */
  contents: {
    [k: string]: {
      /**
       * What the bot does, in a sentence: one line of visible text.
       */
      description: string;
      /**
       * What the bot is called: one line of visible text.
       */
      name: string;
      /**
       * The page, in markdown.
       */
      page: string;
    };
  };
  /**
   * Milliseconds since the Unix epoch.
   */
  created: number;
  /**
   * Milliseconds since the Unix epoch.
   */
  edited: number;
  codehost: FullCodehost;
  images: FullImages;
  /**
   * An absolute https address without user name or password; a new one is in ASCII.
   */
  invite: string;
  legacy: boolean;
  nsfw: boolean;
  oauth: string | null;
  /**
   * A fixed random number for shuffled lists.
   */
  random: number;
  support: string | null;
  trigger: FullTrigger;
  verified: boolean;
  website: string | null;
}
/**
 * Paths of the service's own copies of the images; null, or missing in preview, while there is no copy.
 */
export interface CachedImages {
  avatar: string | null;
  cover: string | null;
  /**
   * @maxItems 20
   */
  preview: string[];
}
/**
 * Where the source code is.
 */
export interface FullCodehost {
  owner: string | null;
  repo: string | null;
}
/**
 * Addresses of the original images.
 */
export interface FullImages {
  avatar: string | null;
  cover: string | null;
  /**
   * @maxItems 20
   *
   * Items: An absolute https address without user name or password; a new one is in ASCII.
   */
  preview: string[];
}
/**
 * How a message addresses the bot.
 */
export interface FullTrigger {
  /**
   * @maxItems 10
   */
  prefix: string[];
  /**
   * Whether a server can choose its own prefix.
   */
  customisable: boolean;
  /**
   * Whether mentioning the bot works as a prefix.
   */
  mentionable: boolean;
}
/**
 * A bot without its pages: one element of GET /api/v2/bots.
 */
export interface BotListElement {
  /**
   * A bot or account id. Always a string: a number would lose digits.
   */
  id: string;
  authors: Authors;
  cachedImages: CachedImages;
  category: Category;
  /**
   * Locale → the bot in that language, the default locale first.
   */
  contents: {
    [k: string]: {
      /**
       * What the bot does, in a sentence: one line of visible text.
       */
      description: string;
      /**
       * What the bot is called: one line of visible text.
       */
      name: string;
    };
  };
  /**
   * Milliseconds since the Unix epoch.
   */
  created: number;
  /**
   * Milliseconds since the Unix epoch.
   */
  edited: number;
  codehost: FullCodehost;
  images: FullImages;
  /**
   * An absolute https address without user name or password; a new one is in ASCII.
   */
  invite: string;
  legacy: boolean;
  nsfw: boolean;
  oauth: string | null;
  /**
   * A fixed random number for shuffled lists.
   */
  random: number;
  support: string | null;
  trigger: FullTrigger;
  verified: boolean;
  website: string | null;
}
/**
 * The keys of a bot that `fields` names.
 */
export interface BotListPart {
  /**
   * A bot or account id. Always a string: a number would lose digits.
   */
  id?: string;
  authors?: Authors;
  cachedImages?: CachedImages;
  category?: Category;
  /**
   * Locale → the bot in that language, the default locale first.
   */
  contents?: {
    [k: string]: {
      /**
       * What the bot does, in a sentence: one line of visible text.
       */
      description: string;
      /**
       * What the bot is called: one line of visible text.
       */
      name: string;
    };
  };
  /**
   * Milliseconds since the Unix epoch.
   */
  created?: number;
  /**
   * Milliseconds since the Unix epoch.
   */
  edited?: number;
  codehost?: FullCodehost;
  images?: FullImages;
  /**
   * An absolute https address without user name or password; a new one is in ASCII.
   */
  invite?: string;
  legacy?: boolean;
  nsfw?: boolean;
  oauth?: string | null;
  /**
   * A fixed random number for shuffled lists.
   */
  random?: number;
  support?: string | null;
  trigger?: FullTrigger;
  verified?: boolean;
  website?: string | null;
  count?: number | null;
}
/**
 * The keys to change, with their new values.
 */
export interface UpdateValues {
  category?: Category;
  /**
   * How many servers the bot is in.
   */
  count?: number;
  /**
   * An absolute https address without user name or password; a new one is in ASCII.
   */
  invite?: string;
  nsfw?: boolean;
  oauth?: string | null;
  support?: string | null;
  website?: string | null;
}
/**
 * The response to an update that is durable: the keys as they are stored, and the commit.
 */
export interface UpdateAnswer {
  bot: StoredValues;
  /**
   * The commit that holds the changed content; null where no content changed.
   */
  commit: string | null;
  /**
   * With status 202: what happens next. The change is saved and need not be sent again.
   */
  note?: string;
}
/**
 * The keys to change, with their new values.
 */
export interface StoredValues {
  category?: Category;
  /**
   * How many servers the bot is in.
   */
  count?: number;
  /**
   * An absolute https address without user name or password; a new one is in ASCII.
   */
  invite?: string;
  nsfw?: boolean;
  oauth?: string | null;
  support?: string | null;
  website?: string | null;
}
/**
 * An error, as RFC 9457 application/problem+json.
 */
export interface Problem {
  type: ProblemType;
  title: string;
  status: number;
  /**
   * What is wrong and what to do about it.
   */
  detail: string;
  /**
   * Every error found, if there can be several.
   *
   * @minItems 1
   */
  errors?: {
    /**
     * A JSON pointer into the body (as a URI fragment), or the query parameter's name after a question mark.
     */
    pointer: string;
    detail: string;
  }[];
}
/**
 * In how many servers the bot is, and when it said so.
 */
export interface LatestCount {
  /**
   * How many servers the bot is in.
   */
  count: number;
  reportedAt: string;
}
/**
 * The count of a bot, as posting libraries read it.
 */
export interface BotStats {
  server_count: number | null;
  countedAt: string | null;
}
/**
 * A file of a bot.
 */
export interface FileText {
  /**
   * Relative to the catalogue's folder.
   */
  path: string;
  text: string;
}
/**
 * The changes of the catalogue after a cursor: GET /api/v2/changes.
 */
export interface CatalogueChanges {
  /**
   * In the order of commits.
   */
  changes: CatalogueChange[];
  /**
   * The cursor after these changes.
   */
  next: string;
  /**
   * Whether there are more now.
   */
  more: boolean;
}
export interface CatalogueChange {
  /**
   * The id in Git of the commit that brought it.
   */
  commit: string;
  /**
   * When that was made, in UTC.
   */
  at: string;
  /**
   * A bot or account id. Always a string: a number would lose digits.
   */
  bot: string;
  /**
   * `added` where the bot had no page before, `removed` where it has none any more.
   */
  what: 'added' | 'changed' | 'removed';
  /**
   * The keys of a changed bot that differ, `page` for the text of its main page, `commands` for its commands. Empty for the others.
   */
  keys: string[];
  /**
   * The languages of the pages that were added, changed or removed.
   */
  locales: string[];
}
export interface CommandsAnswer {
  commands: number;
  commit: string | null;
  note?: string;
}
export interface PageAnswer {
  /**
   * The address of the proposal, for the authors.
   */
  proposal: string | null;
  state: 'waiting' | 'changes-asked' | 'published' | 'unchanged' | 'declined' | 'withdrawn';
  note?: string;
}
/**
 * The parameters of GET /api/v2/bots.
 */
export interface ListQuery {
  /**
   * Words to search for, in any language. A bot may have only some of the words. Without it, all bots.
   */
  q?: string;
  /**
   * Only these bots: up to 100 ids, with commas or repeated. Without it, all.
   *
   * Items: A bot or account id. Always a string: a number would lose digits.
   */
  ids?: string[];
  /**
   * Bots in this category; repeat the parameter for several. Without it, all.
   */
  category?: Category[];
  /**
   * Whether the bot is for adults: `false` leaves 18+ bots out. Without it, both.
   */
  nsfw?: boolean;
  /**
   * Whether the source code is named. Without it, both.
   */
  openSource?: boolean;
  /**
   * Whether the bot is verified. Without it, both.
   */
  verified?: boolean;
  /**
   * Whether the invite link asks for all permissions (Administrator). Without it, both.
   */
  administrator?: boolean;
  /**
   * Bots of this author, by the id of the account. Without it, all.
   */
  author?: string;
  /**
   * Bots with a page in this language. Without it, all.
   */
  locale?: string;
  /**
   * Bots that posted a count in this time. It is `7d`, `30d`, or as many days as the settings of the list say. Without it, all.
   */
  active?: string;
  /**
   * Whether a search returns weak matches, too. Weak ones have less than half of the words that the best one has. Without it, `false`.
   */
  weaker?: boolean;
  /**
   * The order. It is `relevance`, which needs `q`, or one of `id created edited name random count growth`, reversed with `-` in front. `growth` is how counts from 100 changed in 30 days. Without it, `relevance` with `q`, else `id`.
   */
  sort?: string;
  /**
   * How many bots to return, 1 to 1,000. Without it, all.
   */
  limit?: number;
  /**
   * A value from the `Link` header of the previous page. Without it, the first page. A bot whose value in the order changes between two pages, such as its count, may be on both or on neither: sort by `id` to get every bot once.
   */
  after?: string;
  /**
   * The keys to return, separated by commas. `count` is one, too, and null for a bot without one: exact with `ids` or a `limit` up to 100, else a second old at most. Without it, all but pages and count.
   */
  fields?: string;
}
