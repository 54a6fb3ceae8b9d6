import type { VNode } from 'preact';
import { KeepLanguage, useLanguage } from '../language/page-language.tsx';

/** Searches all bots. Works without a script. @param props q: what was searched for last */
export function SearchForm({ q }: { readonly q: string }): VNode {
  const { t, text, publicPath } = useLanguage();
  return (
    <form class="search" role="search" action={publicPath('/')}>
      <label class="out-of-sight" for="q">
        {t('search.label')}
      </label>
      <input
        id="q"
        type="search"
        name="q"
        value={q}
        maxLength={200}
        placeholder={text('search.placeholder')}
      />
      <KeepLanguage />
      <button type="submit">{t('search.button')}</button>
    </form>
  );
}
