import type { VNode } from 'preact';
import { directionOf } from './locales.ts';
import type { Html } from '../markdown/markdown.ts';
import { messages } from './messages.ts';

export interface ProseProps {
  readonly locale: string;
  /** The text as it was written, and as HTML. */
  readonly text: string;
  readonly html: Html;
  /** Whether its pictures are blurred. */
  readonly veiled?: boolean;
}

/** What a bot's author has written: its page. */
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
