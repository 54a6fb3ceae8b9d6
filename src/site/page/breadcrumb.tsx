import type { RenderableProps, VNode } from 'preact';
import type { Category } from '../../bot/schema-types.ts';
import { useLanguage } from '../language/page-language.tsx';
import { LinkItem } from './links.tsx';

/** The way to a page of a bot: all bots, the bots of its category. @param props.children what follows, in list items */
export function Breadcrumb({ category, children }: RenderableProps<{ readonly category: Category }>): VNode {
  const { t, text, href, categoryName } = useLanguage();
  return (
    <nav class="breadcrumb" aria-label={text('bot.breadcrumb')}>
      <ol>
        <LinkItem href={href('/')}>{t('bot.allBots')}</LinkItem>
        <LinkItem href={href(`/categories/${category}`)}>{categoryName(category)}</LinkItem>
        {children}
      </ol>
    </nav>
  );
}
