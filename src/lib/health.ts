import type { Failure } from './retry.ts';

/** The health of a service, by the names of its parts. */
export type Health = Readonly<Record<string, HealthPart>>;

export interface HealthPart {
  readonly ready: boolean;
  /** The current faults, a sentence each. */
  readonly faults: readonly string[];
}

/** Joins the reports of rooms; reports on the same part become one. */
export function joinHealth(all: readonly Health[]): Health {
  const joined: Record<string, HealthPart> = {};
  for (const [name, { ready, faults }] of all.flatMap(Object.entries<HealthPart>)) {
    const { ready: wasReady = true, faults: others = [] } = joined[name] ?? {};
    joined[name] = { ready: ready && wasReady, faults: [...others, ...faults] };
  }
  return joined;
}

/** Returns the sentences of a part, without those that are null or undefined. */
export function listFaults(...faults: readonly (string | null | undefined)[]): string[] {
  return faults.filter((fault) => typeof fault === 'string');
}

/** Returns the sentence for something that has failed for a while; null if it has not. */
export function describeFailure(what: string, failure: Failure | null | undefined): string | null {
  return failure ? `${what} since ${new Date(failure.since).toISOString()}: ${failure.message}` : null;
}
