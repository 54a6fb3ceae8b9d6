import type { VNode } from 'preact';
import { directionOf } from '../language/locales.ts';
import { useLanguage } from '../language/page-language.tsx';
import type { ProposedHtml } from '../markdown/markdown.ts';

export interface ProseProps {
  readonly locale: string;
  /** The text as Markdown, and as HTML. */
  readonly text: string;
  readonly html: ProposedHtml;
  /** The advice for a page that was not formatted in time. */
  readonly retry?: 'add.busy' | 'review.busy';
  /** Whether its images are blurred. */
  readonly blurImages?: boolean;
}

/** A bot's page as its author wrote it. */
export function Prose({ locale, text, html, retry = 'review.busy', blurImages = false }: ProseProps): VNode {
  const { t } = useLanguage();
  const language = { lang: locale, dir: directionOf(locale) };
  if (html === null || html === undefined) {
    return (
      <div class="prose">
        <p class="notice">{t(html === null ? 'bot.tooComplex' : retry)}</p>
        <pre class="plain" {...language}>
          {text}
        </pre>
      </div>
    );
  }
  if (html.trim() === '') return <p class="prose muted">{t('bot.noPage')}</p>;
  const names = blurImages ? 'prose veiled-pictures' : 'prose';
  return <div class={names} {...language} dangerouslySetInnerHTML={{ __html: html }} />;
}
