import { doesNotMatch, match, ok } from 'node:assert/strict';
import { renderToString } from 'preact-render-to-string';
import { Permissions } from '../../../src/site/bot/permissions.tsx';
import { inEnglish } from '../../support/languages.ts';

const render = (query: string): string =>
  renderToString(inEnglish(<Permissions invite={`https://discord.com/oauth2/authorize?${query}`} />));

describe('the permissions on the page of a bot', () => {
  it('are a sentence that says how many can do harm, and opens to all of them', () => {
    const html = render('scope=bot&permissions=19462').replaceAll(/<(?!h2|ul|li|details)[^>]*>/g, '');
    match(html, /Permissions it asks for2 that can do harm · 2 others/);
    match(
      html,
      /<ul class="permissions harmful"><li>Ban members<li>Kick members<details>2 others<ul class="permissions"><li>Read and send/,
    );
    match(html, /Does not ask for Administrator/);
  });

  it('warn of Administrator', () => {
    const html = render('permissions=9');
    match(
      html,
      /<summary>.*<strong class="warning">Asks for full control of your server<\/strong>.*<\/summary>/,
    );
    match(html, /<p class="notice warn">An administrator can/);
    match(html, /Create invites/);
    doesNotMatch(html, /Does not ask/);
  });

  it('say what is not stated, what cannot be read, and what is unknown', () => {
    match(render('scope=bot'), /Not stated in the invite link/);
    match(render('permissions=1e99'), /cannot be read/);
    match(render(`permissions=${2n ** 53n}`), /<li>Unknown permission \(bit 53\)<\/li>/);
    match(render('permissions=0'), /<p>None<\/p>/);
    for (const query of ['scope=bot', 'permissions=1e99']) doesNotMatch(render(query), /Administrator/);
  });

  it('say when the link adds commands only, and which other scopes it has', () => {
    match(render('scope=applications.commands&permissions=8'), /adds commands only/);
    const html = render('scope=bot+email+%3Cscript%3E');
    match(html, /<code>email, &lt;script>/);
    ok(!html.includes('<script'));
  });

  it('are said not to be known for a link of another platform', () => {
    const html = renderToString(inEnglish(<Permissions invite="https://example.org/?permissions=8" />));
    match(html, /Permissions it asks for<\/h2><p>Not known for this link\.<\/p><\/summary><\/details>$/);
  });
});
