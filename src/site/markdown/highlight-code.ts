import type { LanguageFn } from 'highlight.js';
import highlighter from 'highlight.js/lib/core';

/**
 * Returns a function that highlights the code blocks of one page: code to HTML with classes. It returns undefined where the
 * language is not known, or the page has more code than the limit.
 */
export function createCodeHighlighter(): (code: string, language: string) => string | undefined {
  let left = maxCodeLength;
  return (code, language) => {
    if (code.length > left || !highlighter.getLanguage(language)) return undefined;
    left -= code.length + costOfBlock;
    return highlighter.highlight(code, { language, ignoreIllegals: true }).value;
  };
}

const maxCodeLength = 10_000;
/** Characters of the limit that a block takes besides its own, so that a page has about a hundred at most. */
const costOfBlock = 100;

const languages =
  'bash csharp css diff go ini java javascript json php python ruby rust sql typescript xml yaml'.split(' ');
await Promise.all(
  languages.map(async (name) => {
    const language = (await import(`highlight.js/lib/languages/${name}`)) as { default: LanguageFn };
    highlighter.registerLanguage(name, language.default);
  }),
);
