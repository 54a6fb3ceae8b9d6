import type { VNode } from 'preact';
import type { LoginError } from '../../login/login-error.ts';
import { Layout, type Site } from '../page/layout.tsx';
import { asSentence } from '../page/messages.ts';
import { loginMessages } from './login-messages.ts';

/** Says why a login failed and what to do. */
export function LoginErrorPage({ site, error }: { readonly site: Site; readonly error: LoginError }): VNode {
  const { title, retry } = loginMessages.errors[error.kind];
  return (
    <Layout site={site} viewer={null} title={title}>
      <div class="narrow stack">
        <h1>{title}</h1>
        <p>{asSentence(error.message)}</p>
        <p class="actions">
          {retry && (
            <a class="button" href={error.kind === 'no-account' ? '/login?account=other' : '/login'}>
              {loginMessages.again}
            </a>
          )}
          <a class="button quiet" href="/">
            {loginMessages.home}
          </a>
        </p>
      </div>
    </Layout>
  );
}
