import type { VNode } from 'preact';
import type { LoginError } from '../../login/login-error.ts';
import { Layout, type Site } from '../page/layout.tsx';
import { EnglishSentence } from '../language/in-english.tsx';
import { useLanguage } from '../language/page-language.tsx';

export interface LoginErrorPageProps {
  readonly site: Site;
  readonly error: LoginError;
  /** The provider's display name. */
  readonly provider: string;
}

/** Says why a login failed and what to do. */
export function LoginErrorPage({ site, error, provider }: LoginErrorPageProps): VNode {
  const { kind } = error;
  const { t, text, href } = useLanguage();
  return (
    <Layout site={site} viewer={null} title={text(`login.${kind}.title`)}>
      <div class="narrow stack">
        <h1>{t(`login.${kind}.title`)}</h1>
        <p>{t(`login.${kind}.text`, { provider })}</p>
        {kind === 'misconfigured' && <EnglishSentence clause={error.message} />}
        <p class="actions">
          {kind !== 'misconfigured' && (
            <a class="button" href={href(kind === 'no-account' ? '/login?account=other' : '/login')}>
              {t('login.again')}
            </a>
          )}
          <a class="button quiet" href={href('/')}>
            {t('login.home')}
          </a>
        </p>
      </div>
    </Layout>
  );
}
