import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { randomFrom } from '../support/random.ts';
import { type Blocks, Coverage } from './coverage.ts';
import { type Dice, mutate } from './mutate.ts';

/** A part of the service that strangers reach. */
export interface Target {
  /** Throws or rejects if the service mishandles an input. */
  readonly test: (input: Buffer) => unknown;
  /** The pieces of inputs, in addition to other inputs. */
  readonly words: readonly string[];
  /** Inputs to begin with, in addition to those of the corpus. */
  readonly seeds?: readonly string[];
  /** The libraries whose blocks count as the service's own do. */
  readonly libraries?: readonly string[];
  /** Bytes. */
  readonly maxLength?: number;
}

/** An input in `corpus/<target>.ndjson`, as text or, if it is not text, in Base64. */
interface CorpusEntry {
  /** The reason to keep it; entries without one are replaceable by any that reach as much. */
  readonly why?: string;
  readonly text?: string;
  readonly base64?: string;
}

/** Tests the inputs of the corpus: all, or those that say why they stay. */
export async function replayCorpus(name: string, target: Target, which: 'all' | 'explained'): Promise<void> {
  for (const entry of readCorpus(name))
    if (which === 'all' || entry.why !== undefined) await runOne(target, toInput(entry));
}

/** Tests all inputs of the corpus, and mutations of them: the same in each run. */
export async function fuzzBriefly(name: string, target: Target, times: number): Promise<void> {
  const inputs = [...readSeeds(target), ...readCorpus(name).map(toInput)];
  for (const input of inputs) await runOne(target, input);
  const random = randomFrom(1);
  const dice: Dice = (below) => Math.floor(random() * below);
  const make = createMaker(target, inputs, dice);
  for (let i = 0; i < times; i++) await runOne(target, make());
}

/**
 * Tests mutations of inputs for some minutes, and goes on from those that reach blocks that no other did, or reach them
 * more often. Ends at a finding, with the shortest input that has it, which it adds to the corpus.
 * @param saves whether the inputs that together reach all blocks become the corpus
 * @returns the figures
 */
export async function fuzzLong(
  name: string,
  target: Target,
  minutes: number,
  saves: boolean,
): Promise<string> {
  const seed = Date.now() % 1e9;
  const random = randomFrom(seed);
  const dice: Dice = (below) => Math.floor(random() * below);
  const coverage = new Coverage(target.libraries);
  const watch = new Watch(name);
  const [reached, levels] = [new Set<string>(), new Set<string>()];
  const kept: { readonly input: Buffer; readonly blocks: Blocks }[] = [];
  let [runs, batch] = [0, 2];

  const run = async (input: Buffer): Promise<void> => {
    runs++;
    watch.begin(input);
    const begun = performance.now();
    try {
      await target.test(input);
      if (performance.now() - begun > maxSeconds * 1000) await ensureQuick(target, input);
    } catch (error) {
      throw await reportFinding(name, target, input, error);
    }
  };
  const runAll = async (inputs: readonly Buffer[]): Promise<Blocks> => {
    coverage.take();
    for (const input of inputs) await run(input);
    return coverage.take();
  };
  /** Keeps the input if it reaches more than those before it. */
  const learn = async (input: Buffer): Promise<void> => {
    const blocks = await runAll([input]);
    const news = [...blocks].map(([block, count]) => `${block}*${32 - Math.clz32(count)}`);
    if (news.every((level) => levels.has(level))) return;
    for (const level of news) levels.add(level);
    for (const block of blocks.keys()) reached.add(block);
    kept.push({ input, blocks });
  };
  /** Finds the inputs that reach new blocks, by halves, because counting takes longer than a run. */
  const search = async (inputs: readonly Buffer[]): Promise<void> => {
    const [input] = inputs;
    if (inputs.length === 1 && input) return await learn(input);
    const blocks = await runAll(inputs);
    if ([...blocks.keys()].every((block) => reached.has(block))) return;
    const half = inputs.length >> 1;
    await search(inputs.slice(0, half));
    await search(inputs.slice(half));
  };

  const corpus = readCorpus(name);
  const seeds = [...readSeeds(target), ...corpus.filter(({ why }) => why).map(toInput)];
  try {
    for (const input of [...seeds, ...corpus.filter(({ why }) => !why).map(toInput)]) await learn(input);
    const [first, begun] = [reached.size, performance.now()];
    const make = createMaker(target, () => kept.map(({ input }) => input), dice);
    while (performance.now() - begun < minutes * 60_000) {
      await learn(make());
      const started = performance.now();
      await search(Array.from({ length: batch }, make));
      // So that most of the time is spent on runs; a search may have taken long as it found something.
      const isShort = performance.now() - started < 500;
      batch = isShort ? Math.min(batch * 2, 2000) : Math.max(batch >> 1, 2);
    }
    if (saves) writeCorpus(name, [...corpus.filter(({ why }) => why), ...choose(kept, seeds)]);
    return `${name}: ${runs} runs in ${minutes} min, ${reached.size} blocks (${first} at the start), ${kept.length} inputs kept, no finding (seed ${seed})`;
  } finally {
    watch.end();
  }
}

/** The maximum CPU time of an input. */
const maxSeconds = 2;

async function ensureQuick({ test }: Target, input: Buffer): Promise<void> {
  const begun = process.cpuUsage();
  await test(input);
  const { user } = process.cpuUsage(begun);
  if (user > maxSeconds * 1e6) throw new Error(`it takes ${user / 1e6} s of CPU`);
}

function createMaker(
  { words, maxLength = 4096 }: Target,
  inputs: readonly Buffer[] | (() => readonly Buffer[]),
  dice: Dice,
): () => Buffer {
  const pieces = words.map((word) => Buffer.from(word));
  return () => {
    const all = typeof inputs === 'function' ? inputs() : inputs;
    // The last ones reached something new, and so lead on more often.
    const from = dice(2) === 0 ? 0 : Math.floor(all.length * 0.8);
    const input = all[from + dice(all.length - from)] ?? Buffer.alloc(0);
    const other = all[dice(all.length)] ?? Buffer.alloc(0);
    return mutate(input, [other, ...pieces], dice, maxLength);
  };
}

function readSeeds({ seeds = [] }: Target): Buffer[] {
  return seeds.map((seed) => Buffer.from(seed));
}

async function runOne({ test }: Target, input: Buffer): Promise<void> {
  try {
    await test(input);
  } catch (error) {
    throw new Error(`with ${JSON.stringify(toEntry(input))}`, { cause: error });
  }
}

/** Adds the shortest input with the same finding to the corpus, and returns the error that says so. */
async function reportFinding(name: string, target: Target, found: Buffer, error: unknown): Promise<Error> {
  const failsAlike = async (input: Buffer): Promise<boolean> => {
    try {
      await target.test(input);
      return false;
    } catch (other) {
      return placeOf(other) === placeOf(error);
    }
  };
  let input = found;
  for (let size = input.length >> 1; size > 0; size >>= 1)
    for (let at = 0; at < input.length;) {
      const shorter = Buffer.concat([input.subarray(0, at), input.subarray(at + size)]);
      if (await failsAlike(shorter)) input = shorter;
      else at += size;
    }
  const why = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error);
  writeCorpus(name, [...readCorpus(name), { why, ...toEntry(input) }]);
  return new Error(`${name} has a finding, now in its corpus: ${JSON.stringify(toEntry(input))}`, {
    cause: error,
  });
}

/** The place where an error was thrown. */
function placeOf(error: unknown): string | undefined {
  return error instanceof Error ? /\n\s+at .*/.exec(error.stack ?? '')?.[0] : undefined;
}

/** Returns inputs that together reach as much as all, the shortest first, without the seeds. */
function choose(
  kept: readonly { readonly input: Buffer; readonly blocks: Blocks }[],
  seeds: readonly Buffer[],
): CorpusEntry[] {
  const isSeed = (input: Buffer): boolean => seeds.some((seed) => seed.equals(input));
  const reached = new Set(
    kept.filter(({ input }) => isSeed(input)).flatMap(({ blocks }) => [...blocks.keys()]),
  );
  return kept
    .filter(({ input }) => !isSeed(input))
    .toSorted((a, b) => a.input.length - b.input.length)
    .filter(({ blocks }) => {
      const before = reached.size;
      for (const block of blocks.keys()) reached.add(block);
      return reached.size > before;
    })
    .map(({ input }) => toEntry(input));
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(`./test/fuzz/corpus/${name}.ndjson`, import.meta.resolve('#package')));
}

function readCorpus(name: string): CorpusEntry[] {
  const lines = readFileSync(pathOf(name), 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as CorpusEntry);
}

function writeCorpus(name: string, entries: readonly CorpusEntry[]): void {
  writeFileSync(pathOf(name), entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
}

function toInput({ text, base64 = '' }: CorpusEntry): Buffer {
  return text === undefined ? Buffer.from(base64, 'base64') : Buffer.from(text);
}

function toEntry(input: Buffer): CorpusEntry {
  const text = input.toString();
  return Buffer.from(text).equals(input) ? { text } : { base64: input.toString('base64') };
}

/** Ends the process if an input takes a minute, and prints the input. */
class Watch {
  readonly #shared = new SharedArrayBuffer(65_536);
  readonly #counter = new Int32Array(this.#shared, 0, 2);
  readonly #bytes = new Uint8Array(this.#shared, 8);
  readonly #worker: Worker;

  constructor(name: string) {
    const code = `
      const { workerData: { name, shared } } = require('node:worker_threads');
      const counter = new Int32Array(shared, 0, 2);
      let last = -1;
      setInterval(() => {
        const now = Atomics.load(counter, 0);
        const input = Buffer.from(new Uint8Array(shared, 8).slice(0, counter[1])).toString('base64');
        if (now === last) {
          require('node:fs').writeSync(2, name + ' hangs with the Base64 ' + input + '\\n');
          process.kill(process.pid, 'SIGKILL');
        }
        last = now;
      }, 60_000);`;
    this.#worker = new Worker(code, { eval: true, workerData: { name, shared: this.#shared } });
  }

  begin(input: Buffer): void {
    this.#bytes.set(input.subarray(0, this.#bytes.length));
    Atomics.store(this.#counter, 1, input.length);
    Atomics.add(this.#counter, 0, 1);
  }

  end(): void {
    void this.#worker.terminate();
  }
}
