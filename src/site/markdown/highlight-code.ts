import bash from 'highlight.js/lib/languages/bash';
import csharp from 'highlight.js/lib/languages/csharp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
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

const languages = {
  bash,
  csharp,
  css,
  diff,
  go,
  ini,
  java,
  javascript,
  json,
  php,
  python,
  ruby,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};
for (const [name, language] of Object.entries(languages)) highlighter.registerLanguage(name, language);
