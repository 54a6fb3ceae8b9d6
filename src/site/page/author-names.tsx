import type { VNode } from 'preact';
import type { AuthorIndex } from '../../catalogue/lists/authors.ts';
import { useLanguage } from '../language/page-language.tsx';
import { toAuthorPath } from './addresses.ts';
import { withoutBidiControls } from './bidi.ts';
import { NameLink, type NameLinkProps } from './links.tsx';

/** Returns the pages of those of some authors who have a name, in their order. */
export function listNamedAuthors(authors: AuthorIndex, ids: readonly string[]): NameLinkProps[] {
  return ids.flatMap((id) => {
    const profile = authors.findProfile(id);
    return profile ? [{ path: toAuthorPath(id), name: withoutBidiControls(profile.name) }] : [];
  });
}

interface BylineProps {
  readonly authors: readonly NameLinkProps[];
  readonly isLinked: boolean;
}

/** The line "by NAME" of a bot; nothing where none of its authors has a name. */
export function Byline({ authors, isLinked }: BylineProps): VNode | null {
  const { t, list } = useLanguage();
  if (authors.length === 0) return null;
  // Names are listed by their places, as two authors may have the same.
  const names = list.formatToParts(Object.keys(authors)).map(({ type, value }) => {
    const author = type === 'element' ? authors[Number(value)] : undefined;
    if (author === undefined) return value;
    return isLinked ? <NameLink key={value} {...author} /> : <bdi key={value}>{author.name}</bdi>;
  });
  return <p class="by">{t('bot.by', { authors: <>{names}</> })}</p>;
}
