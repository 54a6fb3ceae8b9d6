import { Session } from 'node:inspector';

/** The start of a block of the service's code → how often it ran. */
export type Blocks = ReadonlyMap<string, number>;

const session = new Session();
session.connect();
// Immediately, because functions that have run before are not counted by block.
if (process.env['FUZZ_MINUTES']) {
  post('Profiler.enable');
  post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
}

/** Counts how often each block of `dist/src/` and of these libraries runs, as V8 does. */
export class Coverage {
  readonly #files: RegExp;
  /** Function → the starts of its blocks. V8 leaves out a block that ran as often as the code around it. */
  readonly #starts = new Map<string, Set<number>>();

  /** @param libraries names of packages */
  constructor(libraries: readonly string[] = []) {
    this.#files = new RegExp(`/(?:dist/src|node_modules/(?:${['-', ...libraries].join('|')}))/`);
  }

  /** Returns the blocks that ran since the last call. */
  take(): Blocks {
    const blocks = new Map<string, number>();
    const { result } = post('Profiler.takePreciseCoverage') as PreciseCoverage;
    for (const { url, functions } of result) {
      if (!this.#files.test(url)) continue;
      for (const { ranges } of functions) {
        const [whole] = ranges;
        if (whole === undefined || whole.count === 0) continue;
        const place = `${url}:${whole.startOffset}`;
        const starts = this.#starts.get(place) ?? new Set();
        this.#starts.set(place, starts);
        for (const { startOffset } of ranges) starts.add(startOffset);
        for (const start of starts) {
          // Of the ranges around an offset, the last is the innermost.
          const inner = ranges.findLast((range) => range.startOffset <= start && start < range.endOffset);
          if (inner && inner.count > 0) blocks.set(`${place}+${start}`, inner.count);
        }
      }
    }
    return blocks;
  }
}

function post(method: string, params: object = {}): unknown {
  let answer: unknown;
  // Within one thread the response arrives synchronously.
  session.post(method, params, (error, result) => {
    if (error) throw new Error(`${method}: ${error.message}`);
    answer = result;
  });
  return answer;
}

interface PreciseCoverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly ranges: readonly {
        readonly startOffset: number;
        readonly endOffset: number;
        readonly count: number;
      }[];
    }[];
  }[];
}
