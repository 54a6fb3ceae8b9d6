/** An action and its outcome. Times are milliseconds of one clock that never goes back. */
export interface Event {
  readonly number: number;
  readonly actor: string;
  readonly what: string;
  /** The machine it was done at; null for what a person did at the remote. */
  readonly machine: number | null;
  readonly bot: string | null;
  readonly start: number;
  /** Infinity where no response came. */
  readonly end: number;
  /** Of the response; 0 where none came, or for what is no request. */
  readonly status: number;
  /** Whether it was done; `maybe` where no response says so. */
  readonly outcome: 'done' | 'refused' | 'maybe';
  /** Key → the value that it gave it. */
  readonly writes: Readonly<Record<string, string>>;
  /** Key → the value that it saw; of `not`, a value that it saw is not there. */
  readonly seen: Readonly<Record<string, string>>;
  readonly not: Readonly<Record<string, string>>;
  /** Whether people did it with Git, so that it shows at a machine any time later. */
  readonly byGit: boolean;
  /** The commit that it made; of a decision the version that it is about. */
  readonly commit: string | null;
  /** The account of the proposal. */
  readonly account: string | null;
}

type About = Pick<Event, 'actor' | 'what' | 'machine' | 'bot'> & Partial<Event>;

export class Recorder {
  readonly events: Event[] = [];
  /** When it began, in milliseconds since the epoch. */
  readonly startedAt = Date.now();
  readonly #start = performance.now();

  get now(): number {
    return performance.now() - this.#start;
  }

  /** Does something and records it, with what it returns put over what is known before. A broken connection is a `maybe`. */
  async record(about: About, work: () => Promise<Partial<Event>>): Promise<Event> {
    const begun = {
      number: this.events.length,
      start: this.now,
      end: Number.POSITIVE_INFINITY,
      status: 0,
      outcome: 'maybe',
      writes: {},
      seen: {},
      not: {},
      byGit: false,
      commit: null,
      account: null,
      ...about,
    } as const;
    // An event without its end is there from the start, for what the end of the simulation finds unanswered.
    this.events.push(begun);
    const done = { ...begun, ...(await work().catch(refuseOthers)) };
    const event = { ...done, end: done.outcome === 'maybe' ? Number.POSITIVE_INFINITY : this.now };
    this.events[begun.number] = event;
    return event;
  }
}

/** A broken connection, or a response that took too long. */
function refuseOthers(error: unknown): Partial<Event> {
  if (error instanceof TypeError || (error instanceof Error && /Timeout|Abort/.test(error.name))) return {};
  throw error;
}

/** An event as a line of text. */
export function describeEvent(event: Event): string {
  const { number, actor, what, machine, bot, start, end, status, outcome, writes, seen, not } = event;
  const parts = Object.entries({ writes, seen, not }).flatMap(([name, values]) =>
    Object.entries(values).map(([key, value]) => `${name} ${key}=${value}`),
  );
  const place = machine === null ? 'remote' : `machine ${machine}`;
  return `#${number} ${Math.round(start)}–${Math.round(end)} ${place} bot ${bot} ${actor}: ${what} ${status} ${outcome} ${parts.join(' ')}`;
}
