import type { ComponentChildren, VNode } from 'preact';

/** Marks a text that is in English, whatever the language of the page. */
export function InEnglish({ children }: { readonly children: ComponentChildren }): VNode {
  return (
    <span lang="en" dir="ltr">
      {children}
    </span>
  );
}

/** A paragraph of one sentence, made of a clause: with a capital letter and a full stop. */
export function EnglishSentence({ clause }: { readonly clause: string }): VNode {
  return (
    <p>
      <InEnglish>{`${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`}</InEnglish>
    </p>
  );
}
