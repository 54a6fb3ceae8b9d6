import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import sharp from 'sharp';
import type { Category, Command, FullImages } from '../../schemas/types.ts';
import { msPerDay } from '../bot/clock.ts';
import { formatCommitMessage } from '../bot/commit-message.ts';
import type { BotId } from '../bot/id.ts';
import { english, type Locale } from '../bot/locale.ts';
import type { Token } from '../bot/token.ts';
import { commandsPart, pathOf } from '../catalogue/page/layout.ts';
import { toCanonicalForm } from '../catalogue/page/page.ts';
import { collectionsFolder, peopleFolder } from '../catalogue/page/side-file.ts';
import { printCommands } from '../bot/commands.ts';
import { blockedName, nothingBlocked } from '../catalogue/settings/blocked.ts';
import { settingsName, readCommittedSettings } from '../catalogue/settings/settings.ts';
import { CommittedState, createStateRef } from '../counts/state-ref.ts';
import {
  toDay,
  toDayPath,
  writeDay,
  toShardNumber,
  toShardPath,
  writeShard,
  State,
} from '../counts/state.ts';
import { type NewFile, type NewCommit, writeHistory, toNewFile } from '../git/commit-files.ts';
import { RepositoryOpener } from '../git/repository.ts';
import { readHead, stateRef, updateRefs } from '../git/refs.ts';
import { ImageIndex, type ImageKind, ImageStore } from '../images/store.ts';
import { silentLog } from '../lib/log.ts';
import { formatCount } from '../lib/text.ts';
import type { SentProposal } from '../proposals/proposal.ts';
import { Proposals } from '../proposals/proposals.ts';
import { issueToken } from '../tokens/tokens.ts';
import { commitAll, copyTemplate } from './init.ts';

/** A bot of assets/demo/bots.json. Times are in days before now. */
export interface DemoBot {
  readonly id: BotId;
  readonly created: number;
  readonly edited: number;
  /** The count today; left out for a bot that posts none. */
  readonly servers?: number;
  /** The count divided by the one of 30 days before. */
  readonly growth?: number;
  /** The time of the last count, if that is not today. */
  readonly lastCount?: number;
  /** The other keys of its main page. */
  readonly main: {
    readonly authors: readonly string[];
    readonly category: Category;
    readonly images: FullImages;
  };
  /** The pages by locale, the main page first. */
  readonly contents: Readonly<Record<string, { name: string; description: string; page: string }>>;
  readonly commands?: readonly Command[];
}

/** A bot of assets/demo/removed.json, which the catalogue no longer has. */
interface RemovedBot extends DemoBot {
  readonly removed: number;
  readonly message: string;
}

/** The parts of a bot that an edit replaces. */
interface BotEdit extends Partial<Pick<DemoBot, 'created' | 'edited'>> {
  readonly main?: object;
  readonly contents?: Readonly<Record<string, object>>;
}

/** The last change of a bot, in assets/demo/changes.json. */
interface DemoChange extends Omit<DemoCommit, 'daysAgo' | 'files'> {
  readonly id: BotId;
  readonly before: BotEdit;
}

/** A past commit. */
interface DemoCommit extends Required<Pick<NewCommit, 'message' | 'files'>> {
  readonly daysAgo: number;
  /** The person who committed it; left out for a change that the service committed. */
  readonly by?: string;
}

/** A proposal of assets/demo/proposals.json. */
interface DemoProposal extends Pick<SentProposal, 'proposer' | 'note'> {
  readonly hoursAgo: number;
  /** The bot as proposed; the file has only its changed keys, or all of a new bot. */
  readonly bot: DemoBot;
}

/** The account of the maintainer. */
const maintainer = '330178214406193152';

/**
 * Creates the catalogue, its counts and images, and proposals of changes. Returns the number of bots, and one of them
 * with its token.
 */
export async function makeDemo(folder: string): Promise<{ bots: number; id: BotId; token: Token }> {
  const now = Date.now();
  const bots = readBots<DemoBot>('bots.json');
  const proposals = readDemoProposals(bots);
  const all = [...bots, ...proposals.map(({ bot }) => bot)];
  const filling = fillImageCache(join(folder, 'var/appdata'), all);
  copyTemplate(folder, false, 'github');
  for (const name of [peopleFolder, collectionsFolder])
    cpSync(findDemoFile(name), join(folder, name), { recursive: true });
  const today = new Date(now).toISOString().slice(0, 10);
  for (const name of [settingsName, blockedName]) {
    const text = readFileSync(findDemoFile(name), 'utf8');
    writeFileSync(join(folder, name), text.replace('{today}', today));
  }
  for (const bot of bots) {
    for (const [path, text] of formatFiles(bot, now)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
  }
  await commitAll(folder, 'main');
  const opener = new RepositoryOpener(folder);
  const repository = await opener.open();
  const tree = (await repository.objects.readOne('HEAD^{tree}'))?.id ?? '';
  const [counts, commits] = await Promise.all([
    writeHistory(repository, [await generateCounts(bots, repository.identity, now)]),
    writeHistory(repository, generateCommits(bots, tree, repository.identity, now)),
  ]);
  const head = await readHead(repository);
  const refs = [
    [stateRef, { from: null, to: counts }],
    ['refs/heads/main', { from: head, to: commits }],
  ] as const;
  await updateRefs(repository, new Map(refs));
  const [{ id }] = bots;
  const state = new CommittedState(createStateRef(opener, silentLog), silentLog);
  const [token] = await Promise.all([
    issueToken(state, id, { name: 'the demo', known: 'all' }),
    sendProposals(opener, proposals, now),
    filling,
  ]);
  opener.close();
  return { bots: bots.length, id, token };
}

function readBots<Bot extends DemoBot>(name: string): readonly [Bot, ...Bot[]] {
  const bots = readDemoFile(name) as Record<BotId, Omit<Bot, 'id'>>;
  return Object.entries(bots).map(([id, bot]) => ({ id, ...bot })) as [Bot];
}

function readDemoProposals(bots: readonly DemoBot[]): DemoProposal[] {
  return (readDemoFile('proposals.json') as DemoProposal[]).map(({ bot, ...proposal }) => {
    const before = bots.find(({ id }) => id === bot.id);
    return { ...proposal, bot: editBot(before ?? bot, bot) };
  });
}

function editBot(bot: DemoBot, { main, contents, ...others }: BotEdit): DemoBot {
  const texts = Object.entries({ ...bot.contents, ...contents });
  return {
    ...bot,
    ...others,
    main: { ...bot.main, ...main },
    contents: Object.fromEntries(
      texts.map(([locale, text]) => [locale, { ...bot.contents[locale], ...text }]),
    ),
  } as DemoBot;
}

function readDemoFile(name: string): unknown {
  return JSON.parse(readFileSync(findDemoFile(name), 'utf8'));
}

function findDemoFile(name: string): URL {
  return new URL(import.meta.resolve(`#assets/demo/${name}`));
}

/** Sends the proposals. Each waits for a review. */
async function sendProposals(
  repositoryOpener: RepositoryOpener,
  demoProposals: readonly DemoProposal[],
  now: number,
): Promise<void> {
  const proposals = new Proposals({
    repositoryOpener,
    committer: { move: async () => await Promise.reject(new Error('the demo commits no proposal')) },
    settings: async () => await readCommittedSettings(repositoryOpener),
    blocked: () => nothingBlocked,
    needsMaintainer: true,
    log: silentLog,
  });
  for (const { bot, proposer, note, hoursAgo } of demoProposals) {
    const sentAt = now - (hoursAgo / 24) * msPerDay;
    await proposals.send({ subject: bot.id, proposer, pages: formatPages(bot, now), note, sentAt });
  }
}

/** Returns the page files of a bot: path in the catalogue → text. */
function formatPages({ id, created, edited, main, contents }: DemoBot, now: number): Map<string, string> {
  let shared: object = { ...main, created: now - created * msPerDay, edited: now - edited * msPerDay };
  return new Map(
    Object.entries(contents).map(([locale, { name, description, page }]) => {
      const data = JSON.stringify({ name, description, ...shared });
      shared = {};
      return [pathOf(id, locale as Locale), toCanonicalForm(`---\n${data}\n---\n\n${page}\n`)];
    }),
  );
}

/** Returns the page files of a bot, and that with its commands. */
function formatFiles(bot: DemoBot, now: number): Map<string, string> {
  const { id, commands } = bot;
  const files = formatPages(bot, now);
  return commands ? files.set(pathOf(id, commandsPart), printCommands(commands)) : files;
}

/**
 * Yields the commits of the catalogue, oldest first: bots were added after a review; some were changed or removed since.
 * @param tree that of the catalogue
 */
function* generateCommits(bots: readonly DemoBot[], tree: string, identity: string, now: number) {
  const sign = (by: string | undefined, daysAgo: number): string => {
    const person = by === undefined ? identity : `${by} <${by.toLowerCase()}@people.example>`;
    return `${person} ${Math.floor((now - daysAgo * msPerDay) / 1000)} +0000`;
  };
  const filesOf = (bot: DemoBot): Map<string, NewFile> => toNewFiles(formatFiles(bot, now));
  const commits: DemoCommit[] = [];
  const add = (bot: DemoBot): void => {
    const { id, created, main, contents } = bot;
    const name = Object.values(contents)[0]?.name ?? '';
    const trailers = [`Proposed-by: ${main.authors[0]}`, `Reviewed-by: ${maintainer}`];
    const message = formatCommitMessage([{ id, name, keys: [] }], trailers);
    commits.push({ daysAgo: created, message, files: filesOf(bot) });
  };
  const changes = readDemoFile('changes.json') as DemoChange[];
  for (const bot of bots) {
    const change = changes.find(({ id }) => id === bot.id);
    add(change ? editBot(bot, { ...change.before, edited: bot.created }) : bot);
    if (change) commits.push({ ...change, daysAgo: bot.edited, files: filesOf(bot) });
  }
  for (const bot of readBots<RemovedBot>('removed.json')) {
    add(bot);
    const files = new Map([...filesOf(bot).keys()].map((path) => [path, null]));
    commits.push({ daysAgo: bot.removed, by: 'Marge', message: bot.message, files });
  }
  commits.sort((a, b) => b.daysAgo - a.daysAgo);
  const folders = bots.map(({ id }) => dirname(pathOf(id, english)));
  const files = new Map(folders.map((path) => [path, null]));
  yield { tree, files, message: 'Begin the catalogue\n', committer: sign('Marge', commits[0]?.daysAgo ?? 0) };
  for (const { by, daysAgo, message, files } of commits)
    yield { committer: sign(by, daysAgo), message, files };
}

function toNewFiles(texts: Iterable<readonly [path: string, text: string]>): Map<string, NewFile> {
  return new Map(Array.from(texts, ([path, text]) => [path, toNewFile(text)]));
}

/**
 * Returns the commit of a state with 90 days of counts, the last ones from 20 minutes ago.
 * @param now milliseconds since the epoch
 */
async function generateCounts(bots: readonly DemoBot[], identity: string, now: number): Promise<NewCommit> {
  const state = new State();
  const texts = new Map<string, string>();
  let at = 0;
  for (let days = 90; days >= 0; days--) {
    const daysAgo = days + 20 / (24 * 60);
    at = now - Math.round(daysAgo * msPerDay);
    const posted = bots.filter(
      ({ id, servers, created, lastCount = 0, growth = 1 }) =>
        servers !== undefined &&
        daysAgo <= created &&
        daysAgo >= lastCount &&
        state.merge(id, { count: { value: Math.round(servers * growth ** (-daysAgo / 30)), at } }),
    );
    const counts = posted.map(({ id }) => [id, state.get(id).count?.value ?? 0, at] as const);
    if (days > 0) texts.set(toDayPath(toDay(at)), await writeDay(counts));
  }
  const counted = bots.filter(({ id }) => state.bots.has(id));
  for (const shard of new Set(counted.map(({ id }) => toShardNumber(id))))
    texts.set(
      toShardPath(shard),
      writeShard(state.listBots(shard), (id) => state.get(id)),
    );
  const committer = `${identity} ${Math.floor(at / 1000)} +0000`;
  return { committer, message: `Count ${formatCount(counted.length, 'bot')}\n`, files: toNewFiles(texts) };
}

/** Stores the images of the bots in an image cache, as if fetched. @param folder of the cache */
async function fillImageCache(folder: string, bots: readonly DemoBot[]): Promise<void> {
  const store = new ImageStore(folder);
  const index = await ImageIndex.open(join(folder, 'index'));
  const add = async (kind: ImageKind, url: string | null): Promise<void> => {
    if (url === null) return;
    const bytes = await readPicture(basename(url, '.png'));
    const { width, height } = await sharp(bytes).metadata();
    const entry = index.getOrCreate(kind, url);
    entry.copy = { name: await store.put(bytes), width, height, fetchedAt: Date.now() };
    index.noteChange(entry);
  };
  await Promise.all(
    bots.flatMap(({ main: { images } }) => [
      add('avatar', images.avatar),
      ...[images.cover, ...images.preview].map(async (url) => await add('wide', url)),
    ]),
  );
  await index.close();
}

/** Reads a picture of assets/demo/pictures as WebP. No drawing has text, because there may be no font. */
async function readPicture(name: string): Promise<Buffer> {
  if (/-\d$/.test(name)) return readFileSync(findDemoFile(`pictures/${name}.webp`));
  const drawing = name.replace('-close-up', '');
  const svg = readFileSync(findDemoFile(`pictures/${drawing}.svg`), 'utf8');
  const box = 'viewBox="0 18 96 60" width="960" height="600"';
  const shown = drawing === name ? svg : svg.replace(/viewBox[^>]*/, box);
  return await sharp(Buffer.from(shown)).webp({ effort: 0 }).toBuffer();
}
