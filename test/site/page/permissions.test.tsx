import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { renderToString } from 'preact-render-to-string';
import { BriefPermissions, PermissionLabel, PermissionSigns } from '../../../src/site/page/permissions.tsx';
import { readCases } from '../../support/fixture-lines.ts';
import { inEnglish } from '../../support/languages.ts';

const authorize = 'https://discord.com/oauth2/authorize?';
const render = (query: string): string =>
  renderToString(inEnglish(<PermissionLabel invite={query.replace(/^(?!https:)/, authorize)} />));
const renderSigns = (invite: string): string =>
  textOf(renderToString(inEnglish(<PermissionSigns invite={invite} id="signs" />)));

const textOf = (html: string): string => html.replaceAll(/<.*?>/g, '').trim();
const row = /<div(?: class="harm")?>(.*?)<\/div>/g;

/** Returns the rows of a label as texts; `!` is its sign of harm. */
function rowsOf(html: string): string[] {
  const rows = html.matchAll(row);
  return Array.from(rows, ([, text = '']) => textOf(text.replace('</dt>', ': ').replace('<p ', ' <p ')));
}

describe('the label of permissions', () => {
  for (const { title, input, expected } of readCases('permission-labels'))
    it(title, () => {
      const html = render(input);
      deepStrictEqual([...rowsOf(html), textOf(html.replaceAll(row, ''))], expected);
    });

  it('has a sign for what can do harm, and shows other scopes as text', () => {
    match(
      render('permissions=19462'),
      /<span class="harm"><span class="sign" aria-hidden="true">!<\/span>Members/,
    );
    match(render('scope=bot+email+%3Cscript%3E'), /<code>email, &lt;script>/);
  });

  it('is the same in a form and in a review, in the open', () => {
    const brief = renderToString(inEnglish(<BriefPermissions invite={`${authorize}permissions=19462`} />));
    deepStrictEqual(rowsOf(brief), rowsOf(render('permissions=19462')));
    match(brief, /^<dl class="ingredients brief">/);
  });

  it('is led to by what the bot can do harm to', () => {
    strictEqual(renderSigns(`${authorize}permissions=6`), 'It can do harm to !Members');
    strictEqual(renderSigns(`${authorize}permissions=3072`), 'Asks for nothing that can do harm');
    strictEqual(renderSigns(`${authorize}permissions=8`), '!Asks for full control of your server');
    match(renderSigns('https://example.org/'), /^The bot’s own site decides/);
  });
});
