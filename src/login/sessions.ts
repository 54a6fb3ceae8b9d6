import { parseAccountId } from '../bot/account.ts';
import type { KeyRing } from './key-ring.ts';
import type { Account } from './provider.ts';

/** Who is logged in with a browser. Kept sealed in a cookie of that browser, not in the service. */
export interface Session extends Account {
  /** Milliseconds since the epoch. */
  readonly loggedInAt: number;
}

/** A text for a cookie, and its lifetime in seconds. */
export interface CookieText {
  readonly text: string;
  readonly seconds: number;
}

/** Sessions. They end a week after the last use, and a month after the login at the latest. */
export class Sessions {
  readonly #keys: KeyRing;
  readonly #purpose: string;

  /** @param issuer the provider; sessions of another provider do not open */
  constructor(keys: KeyRing, issuer: string) {
    this.#keys = keys;
    this.#purpose = `session of ${issuer}`;
  }

  async begin(account: Account): Promise<CookieText> {
    return await this.#seal({ ...account, loggedInAt: Date.now() });
  }

  /** Opens the session in a cookie, with its renewal when one is due. Returns undefined for an invalid or expired one. */
  async open(
    text: string,
  ): Promise<{ readonly session: Session; readonly renewal: CookieText | undefined } | undefined> {
    const opened = await this.#keys.open(this.#purpose, text);
    if (opened === undefined) return undefined;
    const session = parseSession(opened.value);
    if (session === undefined) return undefined;
    const due = !opened.newest || Date.now() - opened.sealedAt > renewAfter;
    return { session, renewal: due ? await this.#seal(session) : undefined };
  }

  async #seal(session: Session): Promise<CookieText> {
    const seconds = Math.min(idleSeconds, countSecondsLeft(session));
    return { text: await this.#keys.seal(this.#purpose, session, seconds), seconds };
  }
}

function countSecondsLeft({ loggedInAt }: Session): number {
  return Math.floor((loggedInAt - Date.now()) / 1000) + maxSessionSeconds;
}

/** Whether the provider authenticated the person within the last ten minutes. */
export function isFresh({ authenticatedAt }: Pick<Session, 'authenticatedAt'>): boolean {
  return Date.now() - authenticatedAt < tenMinutes;
}

const tenMinutes = 600_000;
const idleSeconds = 7 * 86_400;
const maxSessionSeconds = 30 * 86_400;

/** Milliseconds. A new cookie in every response would be too many. */
const renewAfter = 86_400_000;

function parseSession(value: unknown): Session | undefined {
  const { id, name, authenticatedAt, loggedInAt } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const account = typeof id === 'string' ? parseAccountId(id) : undefined;
  const hasTimes = typeof authenticatedAt === 'number' && typeof loggedInAt === 'number';
  if (account === undefined || typeof name !== 'string' || !hasTimes) return undefined;
  return { id: account, name, authenticatedAt, loggedInAt };
}
