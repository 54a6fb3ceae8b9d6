// Generated from schemas/ by `npm run types`; edit the schemas instead.

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
 * A bot without its pages: one element of GET /api/v2/bots.
 */
export type BotListElement = Omit<BotRecord, 'contents'> & {
  contents: {[k: string]: Omit<BotRecord['contents'][string], 'page'>};
};
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
 * The path of a field, such as owner.tags[0], or an object that says more.
 */
export type ImportRule =
  | string
  | {
      /**
       * The path of a field, such as owner.tags[0], or several paths, whose values are one list.
       *
       * @minItems 1
       * @maxItems 20
       */
      from?: string | string[];
      /**
       * A text with {paths} of fields; {id} is the bot's id. With from, for records that have nothing there.
       */
      template?: string;
      /**
       * What is between the values of a list in one text.
       */
      split?: string;
      /**
       * A prefix that is removed from each value, such as discord:.
       */
      strip?: string;
      /**
       * A value that is not allowed is left out, of a list only that one: the record has template or else in its place, or nothing.
       */
      invalid?: 'leave out';
      /**
       * Value in the list → value here; others stay as they are, or become `else`.
       */
      values?: {
        [k: string]: string | boolean;
      };
      /**
       * The value where the record has none. For created, now is the time of the import.
       */
      else?: string | boolean;
    };

/**
 * The front matter of a bot's main page: the shared keys, and name and description in the default locale.
 */
export interface MainPage {
  /**
   * What the bot is called: one line of visible text.
   */
  name: string;
  /**
   * What the bot does, in a sentence: one line of visible text.
   */
  description: string;
  authors: Authors;
  category: Category;
  codehost?: Codehost;
  /**
   * When the bot was listed.
   */
  created: number;
  /**
   * When the bot was last edited, not before created; the same as created if left out.
   */
  edited?: number;
  images?: Images;
  /**
   * An absolute https address without user name or password; a new one is in ASCII.
   */
  invite: string;
  /**
   * Whether the bot was taken over from an older list.
   */
  legacy?: boolean;
  /**
   * Whether the bot is for adults only.
   */
  nsfw?: boolean;
  /**
   * The bot's OAuth client id, where it differs from its id.
   */
  oauth?: string | null;
  /**
   * A fixed random number for shuffled lists; derived from the id if left out.
   */
  random?: number;
  /**
   * Where to get help.
   */
  support?: string | null;
  trigger?: Trigger;
  /**
   * Whether the maintainers have verified the bot.
   */
  verified?: boolean;
  /**
   * The bot's own site.
   */
  website?: string | null;
}
/**
 * Where the source code is.
 */
export interface Codehost {
  owner?: string | null;
  repo?: string | null;
}
/**
 * Addresses of the original images.
 */
export interface Images {
  avatar?: string | null;
  cover?: string | null;
  /**
   * @maxItems 20
   *
   * Items: An absolute https address without user name or password; a new one is in ASCII.
   */
  preview?: string[];
}
/**
 * How a message addresses the bot.
 */
export interface Trigger {
  /**
   * @maxItems 10
   */
  prefix?: string[];
  /**
   * Whether a server can choose its own prefix.
   */
  customisable?: boolean;
  /**
   * Whether mentioning the bot works as a prefix.
   */
  mentionable?: boolean;
}
/**
 * The front matter of every page but the main one.
 */
export interface Translation {
  /**
   * What the bot is called: one line of visible text.
   */
  name: string;
  /**
   * What the bot does, in a sentence: one line of visible text.
   */
  description: string;
}
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
 * A markdown file of the catalogue: one element of GET /api/v1/bots.
 */
export interface FileItem {
  /**
   * A bot or account id. Always a string: a number would lose digits.
   */
  id: string;
  /**
   * A BCP 47 tag in canonical case, such as en, en-GB or zh-CN.
   */
  locale: string;
  /**
   * Whether this is the bot's main page, which has the shared keys.
   */
  main: boolean;
  /**
   * Relative to the catalogue's folder.
   */
  path: string;
  /**
   * What the bot is called: one line of visible text.
   */
  name: string;
  /**
   * What the bot does, in a sentence: one line of visible text.
   */
  description: string;
  /**
   * Bytes.
   */
  size: number;
  /**
   * The file's Git blob id.
   */
  sha: string;
}
/**
 * What one commit changed in a bot: one element of GET /api/v2/bots/:id/changes.
 */
export interface ChangeRecord {
  /**
   * The id of the commit in Git.
   */
  commit: string;
  /**
   * The time of the commit, in UTC.
   */
  at: string;
  /**
   * Who made it: a person, an owner through the API, or an account whose proposal was accepted.
   */
  by: {
    kind: 'person' | 'api' | 'proposal';
    /**
     * Of a person, as in Git.
     */
    name?: string;
    /**
     * The account of the proposal.
     */
    account?: string;
  };
  /**
   * Whether it added the bot.
   */
  newBot: boolean;
  /**
   * Whether the invite link adds another bot from then on.
   */
  otherBot: boolean;
  /**
   * What the invite link asks for from then on, and what no longer.
   */
  permissions: {
    added: string[];
    removed: string[];
  };
  /**
   * Whether the bot has other commands from then on.
   */
  commands: boolean;
  /**
   * The pages of the bot that changed.
   */
  pages: {
    locale: string;
    state: 'added' | 'edited' | 'removed';
    /**
     * What differs. The text of a page has neither value.
     */
    fields: {
      name: string;
      /**
       * Left out where there was no value.
       */
      before?: {
        [k: string]: unknown;
      };
      /**
       * Left out where there is no value.
       */
      after?: {
        [k: string]: unknown;
      };
    }[];
  }[];
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
 * An author: what the account says about itself, and its bots.
 */
export interface AuthorAnswer {
  /**
   * A bot or account id. Always a string: a number would lose digits.
   */
  id: string;
  /**
   * What the author is called; null where the catalogue has no profile of the account.
   */
  name: string | null;
  /**
   * The author's own site.
   */
  website: string | null;
  /**
   * Who the author is, in a sentence, by language.
   */
  description: {
    /**
     * What the bot does, in a sentence: one line of visible text.
     */
    [k: string]: string;
  };
  /**
   * The author's bots, 18+ ones too, by id.
   *
   * Items: A bot or account id. Always a string: a number would lose digits.
   */
  bots: string[];
  /**
   * When the oldest of the bots was added, in milliseconds since the epoch; null where there is no bot.
   */
  since: number | null;
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
 * botshelf.json: the settings of a catalogue, beside bots/. Every key can be left out.
 */
export interface SettingsFile {
  /**
   * What the site is called.
   */
  name?: string;
  /**
   * What the site is for, in a sentence: the heading of the front page.
   */
  tagline?: string;
  /**
   * News for every visitor, at the top of every page.
   */
  notice?: string;
  /**
   * How to reach the people who run the site: a mail address, a link or a text.
   */
  contact?: string;
  /**
   * The licence of the catalogue's data and texts: a name, or an identifier of SPDX such as CC-BY-4.0.
   */
  license?: string;
  /**
   * Links at the foot of every page.
   */
  links?: {
    terms?: string;
    privacy?: string;
    report?: string;
  };
  /**
   * The colour of links and buttons, on light and on dark pages.
   */
  accent?: {
    light?: string;
    dark?: string;
  };
  /**
   * The path of a square PNG, WebP or JPEG in the catalogue's repository, relative to botshelf.json.
   */
  logo?: string;
  /**
   * A BCP 47 tag in canonical case, such as en, en-GB or zh-CN.
   */
  language?: string;
  /**
   * Every category that a bot can have: its id, then its name by language, in the order of pages. The category other always exists.
   */
  categories?: {
    [k: string]: {
      [k: string]: string;
    };
  };
  /**
   * What the bots of a category do, in a sentence by language.
   */
  categoryTexts?: {
    [k: string]: {
      [k: string]: string;
    };
  };
  /**
   * What the page about the site says, in the default language.
   */
  about?: {
    /**
     * What the list is for.
     */
    text?: string;
    /**
     * The rules by which bots are reviewed.
     *
     * @minItems 1
     * @maxItems 30
     */
    rules?: string[];
    /**
     * What a verified bot has shown.
     */
    verified?: string;
  };
  /**
   * The bot that the front page shows first, for 14 days.
   */
  featured?: {
    /**
     * A bot or account id. Always a string: a number would lose digits.
     */
    id: string;
    /**
     * A bot or account id. Always a string: a number would lose digits.
     */
    by: string;
    /**
     * Why, in a sentence in the language of the catalogue.
     */
    why: string;
    /**
     * The day from which it is shown.
     */
    since: string;
  };
  /**
   * Groups of words that mean the same to a search, beside those that it knows.
   *
   * @maxItems 200
   */
  synonyms?: string[][];
  /**
   * The languages that the pages of bots may be in; any if left out.
   *
   * @minItems 1
   * @maxItems 100
   *
   * Items: A BCP 47 tag in canonical case, such as en, en-GB or zh-CN.
   */
  languages?: string[];
  /**
   * The web pages of the repository, where they cannot be derived from the address of the remote. {path} is the path of a file.
   */
  repository?: {
    /**
     * An absolute https address without user name or password; a new one is in ASCII.
     */
    home: string;
    /**
     * The page that edits a file.
     */
    edit: string;
    /**
     * The page that creates a file.
     */
    new: string;
    /**
     * The history of a file.
     */
    history: string;
  };
  /**
   * After how many days without a new count a bot is inactive.
   */
  inactiveDays?: number;
  /**
   * The ids of the accounts that may review proposals.
   *
   * @maxItems 100
   *
   * Items: A bot or account id. Always a string: a number would lose digits.
   */
  maintainers?: string[];
  /**
   * Who may propose changes on the site, and what is done with them.
   */
  proposals?: {
    /**
     * New bots.
     */
    newBots?: 'review' | 'off';
    /**
     * Changes of a bot by its authors. With publish they are committed without a review, but for what is always reviewed.
     */
    authors?: 'review' | 'publish' | 'off';
    /**
     * Pages that the token of a bot sends. With publish they are committed without a review.
     */
    token?: 'review' | 'publish' | 'off';
    /**
     * Changes of a bot by anybody else.
     */
    others?: 'review' | 'off';
    /**
     * How old the account of a proposer has to be, where its id tells.
     */
    minAccountAgeDays?: number;
    /**
     * Why a proposal can be declined, in the language of the catalogue; a list of the interface if left out.
     *
     * @minItems 1
     * @maxItems 20
     */
    reasons?: string[];
  };
}
/**
 * blocked.json: who may not be listed, beside bots/ or where BOTSHELF_BLOCKED says. Every key can be left out.
 */
export interface BlockedFile {
  /**
   * Accounts, by id: they may be no authors, and send nothing.
   */
  accounts?: {
    [k: string]: BlockedEntry;
  };
  /**
   * Bots, by id.
   */
  bots?: {
    [k: string]: BlockedEntry;
  };
  /**
   * Hosts of web addresses, by name, with their subdomains.
   */
  hosts?: {
    [k: string]: BlockedEntry;
  };
}
/**
 * Why, and since when.
 */
export interface BlockedEntry {
  /**
   * Why, for maintainers.
   */
  reason?: string;
  /**
   * The day since when, such as 2026-11-22.
   */
  since?: string;
}
/**
 * people/<account>.json: what an author of bots is called, as they want it shown.
 */
export interface ProfileFile {
  /**
   * What the bot is called: one line of visible text.
   */
  name: string;
  /**
   * The author's own site.
   */
  website?: string | null;
  /**
   * Who the author is, in a sentence, by language.
   */
  description?: {
    /**
     * What the bot does, in a sentence: one line of visible text.
     */
    [k: string]: string;
  };
}
/**
 * The front matter of collections/<name>.<locale>.md: bots that somebody recommends together.
 */
export interface CollectionFile {
  /**
   * What the collection is called: one line of visible text.
   */
  title: string;
  /**
   * What the bot does, in a sentence: one line of visible text.
   */
  description: string;
  /**
   * A bot or account id. Always a string: a number would lose digits.
   */
  by?: string;
  /**
   * The ids of the bots, the first one first. Exactly one file of a collection has them.
   *
   * @minItems 2
   * @maxItems 30
   *
   * Items: A bot or account id. Always a string: a number would lose digits.
   */
  bots?: string[];
}
/**
 * The file bots/<last three digits>/<id>.commands.json: the commands of a bot.
 */
export interface CommandsFile {
  /**
   * By type, then by name.
   *
   * @maxItems 200
   */
  commands: Command[];
}
/**
 * A command of a bot, with the keys that Discord’s API has for it.
 */
export interface Command {
  /**
   * 1 for a command that is typed after a slash, 2 for one in the menu of a user, 3 in that of a message, 4 for one that opens an activity.
   */
  type?: number;
  /**
   * A name in Discord.
   */
  name: string;
  name_localizations?: CommandNames | null;
  /**
   * A description in Discord.
   */
  description?: string;
  description_localizations?: CommandDescriptions | null;
  /**
   * Whether it is for adults only.
   */
  nsfw?: boolean;
  /**
   * What it takes, or its subcommands.
   *
   * @maxItems 25
   */
  options?: CommandOption[];
}
/**
 * The name by language.
 */
export interface CommandNames {
  /**
   * A name in Discord.
   */
  [k: string]: string;
}
/**
 * The description by language.
 */
export interface CommandDescriptions {
  /**
   * A description in Discord.
   */
  [k: string]: string;
}
/**
 * An option of a command: what it takes, a subcommand or a group of these.
 */
export interface CommandOption {
  /**
   * 1 for a subcommand, 2 for a group of them, 3 and more for what a user types or picks.
   */
  type: number;
  /**
   * A name in Discord.
   */
  name: string;
  name_localizations?: CommandNames | null;
  /**
   * A description in Discord.
   */
  description?: string;
  description_localizations?: CommandDescriptions | null;
  /**
   * Whether the command cannot be used without it.
   */
  required?: boolean;
  /**
   * What it takes, or its subcommands.
   *
   * @maxItems 25
   */
  options?: CommandOption[];
}
/**
 * The content of a page that a bot sends from its own repository.
 */
export interface PageContent {
  /**
   * What the bot does, in a sentence: one line of visible text.
   */
  description?: string;
  /**
   * The page, in markdown.
   */
  page: string;
}
/**
 * botshelf import --map: which field of a record in another list is which key of a page file.
 */
export interface ImportMap {
  id: ImportRule;
  locale?: ImportRule;
  page?: ImportRule;
  name?: ImportRule;
  description?: ImportRule;
  authors?: ImportRule;
  category?: ImportRule;
  created?: ImportRule;
  edited?: ImportRule;
  invite?: ImportRule;
  support?: ImportRule;
  website?: ImportRule;
  nsfw?: ImportRule;
  oauth?: ImportRule;
  'images.avatar'?: ImportRule;
  'images.cover'?: ImportRule;
  'images.preview'?: ImportRule;
  'codehost.owner'?: ImportRule;
  'codehost.repo'?: ImportRule;
  'trigger.prefix'?: ImportRule;
  'trigger.customisable'?: ImportRule;
  'trigger.mentionable'?: ImportRule;
  legacy?: ImportRule;
  verified?: ImportRule;
}
