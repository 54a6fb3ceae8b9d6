import { match, ok } from 'node:assert/strict';
import { createPostingCode } from '../../../src/site/account/posting-code.ts';
import { botId } from '../../support/sample.ts';

describe('the code to post with', () => {
  it('has the bot’s own address in it, and no token', () => {
    for (const { title, code } of createPostingCode(
      'https://bots.example.org',
      botId('190519304972663312'),
    )) {
      match(code, /https:\/\/bots\.example\.org[^]*190519304972663312/, title);
      match(code, /BOTSHELF_TOKEN/, title);
      ok(!code.includes('bsh_'));
    }
  });
});
