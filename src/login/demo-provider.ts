import { randomUUID } from 'node:crypto';
import { LoginError } from './login-error.ts';
import type { Account, AuthorizationRequest, IdentityProvider } from './provider.ts';
import { peoplePath } from './settings.ts';

/** Someone as whom the visitors of a demo log in. */
export interface DemoPerson extends Omit<Account, 'authenticatedAt'> {
  readonly role: 'maintainer' | 'author' | 'newcomer';
  /** The names of the bots that they are an author of. */
  readonly bots: string;
}

/**
 * The provider of a demo: it believes its visitors. Only `botshelf demo` makes one, and no setting can (a test shows
 * that), as with it everybody is a maintainer.
 */
export class DemoProvider implements IdentityProvider {
  readonly kind = 'demo';
  readonly name = 'Demo';
  readonly issuer = 'demo';
  readonly people: readonly DemoPerson[];

  constructor(people: readonly DemoPerson[]) {
    this.people = people;
  }

  /** The address is a path of this site. */
  async begin(): Promise<{ readonly url: string; readonly request: AuthorizationRequest }> {
    const state = randomUUID();
    return await Promise.resolve({
      url: `${peoplePath}?state=${state}`,
      request: { state, verifier: '', nonce: null },
    });
  }

  async finish(parameters: URLSearchParams, { state }: AuthorizationRequest): Promise<Account> {
    const person = this.people.find(({ id }) => id === parameters.get('account'));
    if (parameters.get('state') !== state || person === undefined)
      throw new LoginError('stale', 'another login was started since, or nobody was chosen');
    return await Promise.resolve({ id: person.id, name: person.name, authenticatedAt: Date.now() });
  }
}
