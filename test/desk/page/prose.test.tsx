import { doesNotMatch, match } from 'node:assert/strict';
import { renderToString } from 'preact-render-to-string';
import type { Locale } from '../../../src/bot/locale.ts';
import { Preview } from '../../../src/desk/page/elements.tsx';
import { Prose, type ProseProps } from '../../../src/site/page/elements.tsx';
import { inEnglish } from '../../support/languages.ts';

const page = { locale: 'en' as Locale, text: '# Homer' };
const render = (props: Pick<ProseProps, 'html' | 'retry'>): string =>
  renderToString(inEnglish(<Prose {...page} {...props} />));

describe('a page that is not formatted', () => {
  it('is shown as plain text, with the reason', () => {
    match(render({ html: null }), /too complex[^]*<pre class="plain"[^>]*># Homer<\/pre>/);
    doesNotMatch(render({ html: null, retry: 'add.busy' }), /busy/);
  });

  it('is not called too complex while the server is busy: a form is checked again, a review reloaded', () => {
    match(render({ html: undefined }), /busy[^]*Reload it in a few seconds[^]*<pre class="plain"/);
    const form = { preview: undefined, page: '# Homer', html: undefined };
    const html = renderToString(inEnglish(<Preview {...form} retry="add.busy" />));
    match(html, /busy[^]*Press “Check” again in a few seconds/);
    doesNotMatch(html, /too complex/);
  });
});
