import type { AccountId } from '../bot/commit-message.ts';
import type { IdentityProvider } from './provider.ts';
import { type Account, LoginError, peoplePath } from './session.ts';

/** Someone as whom the visitors of a demo log in. */
export interface DemoPerson extends Omit<Account, 'authenticatedAt'> {
  readonly role: 'maintainer' | 'author' | 'newcomer';
  /** The names of their bots. */
  readonly bots?: string;
}

/**
 * The provider of a demo: it believes its visitors. Only `botshelf demo` makes one, and no setting can (a test shows
 * that), because with it everybody is a maintainer.
 */
export class DemoProvider implements IdentityProvider {
  readonly kind = 'demo';
  readonly name = 'Demo';
  readonly issuer = 'demo';
  readonly people: readonly DemoPerson[] = [
    { id: '330178214406193152' as AccountId, name: 'Marge', role: 'maintainer' },
    { id: '928574369333338498' as AccountId, name: 'Arvid', role: 'author', bots: 'Gatehouse, Turnstile' },
    { id: '1180264453772386375' as AccountId, name: 'Nilufar', role: 'newcomer' },
  ];

  async begin(): ReturnType<IdentityProvider['begin']> {
    return await Promise.resolve({ url: peoplePath, request: { state: '', verifier: '', nonce: null } });
  }

  async finish(parameters: URLSearchParams): Promise<Account> {
    const person = this.people.find(({ id }) => id === parameters.get('account'));
    if (person === undefined) throw new LoginError('denied', 'the demo has no such person');
    return await Promise.resolve({ id: person.id, name: person.name, authenticatedAt: Date.now() });
  }
}
