import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import { renderToString } from 'preact-render-to-string';
import { BriefPermissions, PermissionLabel, PermissionSigns } from '../../../src/site/page/permissions.tsx';
import { inEnglish } from '../../support/languages.ts';

const authorize = 'https://discord.com/oauth2/authorize?';
const render = (query: string): string =>
  renderToString(inEnglish(<PermissionLabel invite={authorize + query} />));
const renderSigns = (invite: string): string =>
  renderToString(inEnglish(<PermissionSigns invite={invite} id="signs" />))
    .replaceAll(/<.*?>/g, '')
    .trim();

/** Returns the rows of a label as texts; `!` is its sign of harm. */
function rowsOf(html: string): string[] {
  const rows = html.matchAll(/<div(?: class="harm")?>(.*?)<\/div>/g);
  return Array.from(rows, ([, row = '']) =>
    row.replace('</dt>', ': ').replace('<p ', ' <p ').replaceAll(/<.*?>/g, ''),
  );
}

describe('the label of permissions', () => {
  it('has a row for members, the server and messages, those that can do harm with a sign', () => {
    const html = render('scope=bot&permissions=19462');
    deepStrictEqual(rowsOf(html), [
      '!To members: Permissions that can do harm: Ban members, Kick members',
      'To the server: Nothing',
      'To messages: Read and send messages, Embed links',
    ]);
    match(html, /<b>Does not ask for Administrator/);
    match(html, /<span class="harm"><span class="sign" aria-hidden="true">!<\/span>Members/);
    deepStrictEqual(rowsOf(render(`permissions=${(1n << 17n) | 3072n | (1n << 53n)}`)).slice(1), [
      'To the server: Unknown permission (bit 53)',
      '!To messages: Permissions that can do harm: Mention everyone and all roles Also: Read and send messages',
    ]);
  });

  it('has one row for Administrator', () => {
    const html = render('permissions=9');
    match(rowsOf(html).join('|'), /^!To everything: [^|]*An administrator can do everything[^|]*$/);
    doesNotMatch(html, /Does not ask/);
  });

  it('has one row that says what is not stated, and what cannot be read', () => {
    deepStrictEqual(rowsOf(render('scope=bot')), ['Not stated: Not stated in the invite link.']);
    match(rowsOf(render('permissions=1e99')).join('|'), /^Not stated: [^|]* cannot be read\.$/);
    for (const query of ['scope=bot', 'permissions=1e99']) doesNotMatch(render(query), /Administrator/);
    const other = renderToString(inEnglish(<PermissionLabel invite="https://example.org/?permissions=8" />));
    match(rowsOf(other).join('|'), /^Not stated: The bot’s own site decides[^|]*$/);
    doesNotMatch(other, /Read from its invite link/);
  });

  it('says when the link adds commands only, and which other scopes it has', () => {
    match(
      rowsOf(render('scope=applications.commands&permissions=8')).join('|'),
      /^Nothing: [^|]*adds commands only/,
    );
    const html = render('scope=bot+email+%3Cscript%3E');
    match(html, /<code>email, &lt;script>/);
    ok(!html.includes('<script'));
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
