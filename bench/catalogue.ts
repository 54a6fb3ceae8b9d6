import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { generateBots, type PageText } from './generated-bots.ts';
import { importPages } from './fast-import.ts';

export interface CatalogueOptions {
  readonly bots: number;
  readonly seed?: number;
}

/** What was written. */
export interface CatalogueSize {
  readonly bots: number;
  readonly files: number;
  /** Of all files, in UTF-8. */
  readonly bytes: number;
}

/**
 * Writes a catalogue of invented bots into `folder`; the same options make the same bytes.
 * @throws {Error} when the folder holds bots already.
 */
export function generateCatalogue(folder: string, { bots, seed = 1 }: CatalogueOptions): CatalogueSize {
  makeRoom(folder);
  const size = new Tally(bots);
  const folders = new Set<string>();
  for (const page of size.count(generateBots(bots, seed))) {
    const path = join(folder, page.path);
    const parent = dirname(path);
    if (!folders.has(parent)) {
      mkdirSync(parent, { recursive: true });
      folders.add(parent);
    }
    writeFileSync(path, page.text);
  }
  return size.total;
}

/**
 * Makes the same catalogue as a Git repository on `main`: one commit, checked out.
 * @throws {Error} when the folder holds bots already, or git fails.
 */
export async function generateRepository(
  folder: string,
  { bots, seed = 1 }: CatalogueOptions,
): Promise<CatalogueSize> {
  makeRoom(folder);
  const size = new Tally(bots);
  await importPages(folder, size.count(generateBots(bots, seed)), `Begin with ${bots} invented bots`);
  return size.total;
}

/** Counts pages as they pass. */
class Tally {
  readonly #bots: number;
  #files = 0;
  #bytes = 0;

  constructor(bots: number) {
    this.#bots = bots;
  }

  *count(pages: Iterable<PageText>): Generator<PageText> {
    for (const page of pages) {
      this.#files += 1;
      this.#bytes += Buffer.byteLength(page.text);
      yield page;
    }
  }

  get total(): CatalogueSize {
    return { bots: this.#bots, files: this.#files, bytes: this.#bytes };
  }
}

function makeRoom(folder: string): void {
  const made = mkdirSync(join(folder, 'bots'), { recursive: true });
  if (made === undefined) throw new Error(`${folder} holds bots already: name an empty folder`);
}

const usage = 'usage: node dist/bench/catalogue.js FOLDER --bots N [--seed S] [--git]';

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      bots: { type: 'string' },
      seed: { type: 'string', default: '1' },
      git: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(`${usage}\n`);
    return;
  }
  const [folder, ...others] = positionals;
  if (folder === undefined || others.length > 0) throw new Error(usage);
  const options = {
    bots: wholeNumber('--bots', values.bots, 1),
    seed: wholeNumber('--seed', values.seed, 0),
  };
  const start = performance.now();
  const { bots, files, bytes } = values.git
    ? await generateRepository(folder, options)
    : generateCatalogue(folder, options);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const megabytes = (bytes / 1e6).toFixed(1);
  process.stdout.write(`${folder}: ${bots} bots, ${files} files, ${megabytes} MB in ${seconds} s\n`);
}

function wholeNumber(option: string, text: string | undefined, least: number): number {
  if (text !== undefined && /^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text);
  throw new Error(`${option} takes a whole number from ${least}\n${usage}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main().catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 2;
  });
}
