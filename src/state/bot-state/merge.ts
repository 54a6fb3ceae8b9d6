import { type BotState, botStateOf, type Count, type TokenState } from './bot-state.ts';

/**
 * Merges two states of a bot: the later count and the token of the higher generation. Merging is commutative,
 * associative and idempotent, so replicas converge in whatever order they merge.
 */
export function mergeBotStates(a: BotState, b: BotState): BotState {
  return botStateOf(laterCount(a.count, b.count), mergeTokens(a.token, b.token));
}

/** Returns the later of two counts; of two with the same time, the larger. */
export function laterCount(a: Count | undefined, b: Count | undefined): Count | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return (b.at - a.at || b.value - a.value) > 0 ? b : a;
}

/**
 * Returns the token of the higher generation, whatever the clocks say. Two different tokens of the same generation end
 * both: two replicas issued them without knowing of each other, and a replaced token must not become valid again.
 */
export function mergeTokens(a: TokenState | undefined, b: TokenState | undefined): TokenState | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  if (a.generation !== b.generation) return b.generation > a.generation ? b : a;
  if (a.generation === 0) return laterToken(a, b);
  const later = b.at > a.at ? b : a;
  return a.digest === b.digest || later.digest === null ? later : { ...later, digest: null };
}

/** Returns the later of two tokens without a generation; of two with the same time, the revocation, else the greater digest. */
function laterToken(a: TokenState, b: TokenState): TokenState {
  if (a.at !== b.at) return b.at > a.at ? b : a;
  if (a.digest === null || b.digest === null) return a.digest === null ? a : b;
  return b.digest > a.digest ? b : a;
}
