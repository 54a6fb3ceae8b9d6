import MarkdownIt from 'markdown-it';
import sanitize from 'sanitize-html';
import { FilterXSS } from 'xss';
import { renderMarkdown } from '../src/site/markdown/markdown-renderer.ts';
import { hostilePages } from '../test/support/hostile-pages.ts';
import { languages } from './languages.ts';
import { longestPage, markdown as pageText } from './page-text.ts';
import { Random } from './random.ts';
import { milliseconds, type Row } from './row.ts';

/** Rendering and sanitising a page of 20,000 characters, as the markdown thread does it. */
export async function* markdown(): AsyncGenerator<Row> {
  const [language] = languages();
  if (language === undefined) return;
  const plain = pageText('Bot', language, new Random(1), longestPage - 500);
  const ours = (text: string): unknown => renderMarkdown({ text, name: '', images: {} });
  const html = new MarkdownIt({ html: true });
  const filter = new FilterXSS();
  const peers: Readonly<Record<string, (text: string) => unknown>> = {
    'sanitize-html': (text) => sanitize(html.render(text), { nestingLimit: 100 }),
    xss: (text) => filter.process(html.render(text)),
  };
  for (let round = 0; round < 20; round++) ours(plain);
  const usual = Math.min(...[1, 2, 3].map(() => timeOf(ours, plain)));
  yield { name: 'longest plain page', measured: milliseconds(usual), goal: '≤ 20 ms', met: usual <= 20 };

  const slowest = slowestOf(ours);
  for (const [name, peer] of Object.entries(peers)) {
    for (let round = 0; round < 20; round++) peer(plain);
    const other = slowestOf(peer);
    yield {
      name: `slowest hostile page, ${name}`,
      measured: milliseconds(slowest.time),
      peer: `${milliseconds(other.time)}: ${other.name}`,
      ratio: other.time / slowest.time,
      goal: '≤ 50 ms',
      met: slowest.time <= 50,
    };
  }
}

/** The hostile page that takes longest, at best of three times. */
function slowestOf(render: (text: string) => unknown): { readonly name: string; readonly time: number } {
  const times = Object.entries(hostilePages).map(([name, text]) => ({
    name,
    time: Math.min(...[1, 2, 3].map(() => timeOf(render, text))),
  }));
  return times.reduce((slowest, other) => (other.time > slowest.time ? other : slowest));
}

function timeOf(render: (text: string) => unknown, text: string): number {
  const start = performance.now();
  render(text);
  return performance.now() - start;
}
