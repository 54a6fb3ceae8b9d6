import type { VNode } from 'preact';
import { useLanguage } from '../language/page-language.tsx';

/** Searches all bots. Works without a script. @param props q: what was searched for last */
export function SearchForm({ q }: { readonly q: string }): VNode {
  const { t, text, publicPath, requested } = useLanguage();
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
      {requested !== undefined && <input type="hidden" name="locale" value={requested} />}
      <button type="submit">{t('search.button')}</button>
    </form>
  );
}
