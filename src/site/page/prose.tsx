import type { VNode } from 'preact';
import { directionOf } from './locales.ts';
import type { Html } from '../markdown/markdown.ts';
import { messages } from './messages.ts';

export interface ProseProps {
  readonly locale: string;
  /** The text as Markdown, and as HTML. */
  readonly text: string;
  readonly html: Html;
  /** Whether its images are blurred. */
  readonly veiled?: boolean;
}

/** A bot's page as its author wrote it. */
export function Prose({ locale, text, html, veiled = false }: ProseProps): VNode {
  const language = { lang: locale, dir: directionOf(locale) };
  if (html === null) {
    return (
      <div class="prose">
        <p class="notice" dir="ltr">
          {messages.tooLong}
        </p>
        <pre class="plain" {...language}>
          {text}
        </pre>
      </div>
    );
  }
  if (html.trim() === '')
    return (
      <p class="prose muted" dir="ltr">
        {messages.noPage}
      </p>
    );
  const names = veiled ? 'prose veiled-pictures' : 'prose';
  return <div class={names} {...language} dangerouslySetInnerHTML={{ __html: html }} />;
}
