import { match, ok } from 'node:assert/strict';
import { createPostingCode } from '../../../src/desk/account/posting-code.ts';
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

  it('installs the clients from the service, because the registries may have other packages of their names', () => {
    const [, javascript, python] = createPostingCode('https://bots.example.org/x', botId('1'));
    const address = 'https:\\/\\/bots\\.example\\.org\\/x\\/clients\\/botshelf-\\S+';
    match(
      javascript?.code ?? '',
      new RegExp(
        `^// curl -fLO ${address}\\.tgz\n// npm install \\./botshelf-client-\\S+\\.tgz discord\\.js\n`,
      ),
    );
    match(python?.code ?? '', new RegExp(`^# pip install ${address}\\.whl discord\\.py\n`));
  });
});
