import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { renderToString } from 'preact-render-to-string';
import { diffWords, WordDiff, type Words } from '../../../src/site/changes/changed-fields.tsx';
import { inEnglish } from '../../support/languages.ts';

describe('the words of a text that change', () => {
  it('are those that go and come, with the blanks between them', () => {
    const words = diffWords('Answers questions about  doughnuts.', 'Answers all questions about doughnuts.');
    const sign = ({ added, removed }: Words): string => (added ? '+' : removed ? '-' : '');
    const marked = words?.map((part) => `${sign(part)}${part.value}`);
    deepStrictEqual(marked, ['Answers ', '+all ', 'questions about', '-  ', '+ ', 'doughnuts.']);
  });

  it('are shown with a few words around them, and said to screen readers', () => {
    const text = 'word '.repeat(1000);
    const words = diffWords(`${text}old ${text}`, `${text}new <b> ${text}`) ?? [];
    const html = renderToString(inEnglish(<WordDiff words={words} />));
    ok(html.length < 1500);
    match(html, /word  … [^]*<span[^>]*>Removed: <\/span><del>old<\/del>[^]*Added: <\/span><ins>&lt;b>/);
  });

  it('are not compared where too many differ', () => {
    const text = (of: number): string => Array.from({ length: 20_000 }, (_, i) => (i * of) % 9973).join(' ');
    strictEqual(diffWords(text(7), text(11)), null);
    strictEqual(diffWords('a '.repeat(9900), 'b '.repeat(9900)), null);
  });
});
