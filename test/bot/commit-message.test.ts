import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import {
  type CommitAuthor,
  decodeCommit,
  findServiceTrailer,
  formatChangedBy,
  formatCommitMessage,
  parseCommitAuthor,
} from '../../src/bot/commit-message.ts';

const homer = { name: 'Homer', id: '1', keys: ['category'] };

describe('the message of a commit', () => {
  it('names the bot and its keys, once each', () => {
    strictEqual(
      formatCommitMessage([homer, { ...homer, keys: ['nsfw', 'category'] }]),
      'Update Homer (1): category, nsfw\n\nBot: 1\n',
    );
  });

  it('counts several bots, and has a line and a trailer for each', () => {
    strictEqual(
      formatCommitMessage([homer, { name: 'Marge', id: '2', keys: ['invite', 'oauth'] }]),
      'Update 2 bots\n\n- Homer (1): category\n- Marge (2): invite, oauth\n\nBot: 1\nBot: 2\n',
    );
  });

  it('lets no name forge a line, a trailer or the direction of the text, or run on', () => {
    const name = `A\r\nBot: 9\u2028\u202Eb${'x'.repeat(100)}`;
    strictEqual(
      formatCommitMessage([{ ...homer, name }]),
      `Update A Bot： 9 b${'x'.repeat(53)}… (1): category\n\nBot: 1\n`,
    );
  });

  it('has no text of people that skips a check, mentions or closes something at a Git host', () => {
    const texts = ['[skip ci]', '[CI Skip]', '***NO_CI***', 'skip-checks: true', '@marge', 'Fixes #1'];
    for (const text of [
      ...texts,
      'GH-1',
      'Closes TASK-1',
      'a!1',
      'b&1',
      'closes https://git.example.org/people/list/issues/1',
    ]) {
      const bot = { name: text, id: '1', keys: [text] };
      const message = formatCommitMessage([bot], [formatChangedBy(text)], { reason: text });
      ok(!message.toLowerCase().includes(text.toLowerCase()), message);
    }
  });

  it('says that a bot is new, and ends with more trailers', () => {
    strictEqual(
      formatCommitMessage([{ ...homer, keys: [] }], ['Proposed-by: 7']),
      'Add Homer (1)\n\nBot: 1\nProposed-by: 7\n',
    );
  });

  it('has another verb, and a reason that forges no trailer', () => {
    strictEqual(
      formatCommitMessage([{ ...homer, keys: [] }], [formatChangedBy('marge\nBot: 8')], {
        verb: 'Remove',
        reason: 'Spam\n\nBot: 9',
      }),
      'Remove Homer (1)\n\nSpam Bot： 9\n\nBot: 1\nChanged-by: marge Bot： 8\n',
    );
  });
});

describe('who made a commit', () => {
  const parse = (author: string, committer: string, message: string): CommitAuthor =>
    parseCommitAuthor(
      `tree 1\nparent 2\nauthor ${author}\ncommitter ${committer}\ngpgsig -----\n \n -----\n\n${message}`,
      'Botshelf <bot@localhost>',
    );
  const service = 'Botshelf <bot@localhost> 1 +0000';

  it('is a person by name, without the address, also of a commit of a service that was amended', () => {
    const ada = { kind: 'person', name: 'Ada Lovelace' };
    const author = 'Ada Lovelace <ada@example.org> 1 +0000';
    deepStrictEqual(parse(author, author, 'Edit by hand\n'), ada);
    deepStrictEqual(parse(author, service, formatCommitMessage([homer])), ada);
    strictEqual(JSON.stringify(parse('<> 1 +0000', service, '')), '{"kind":"person","name":""}');
    // A pattern that begins with blanks would look at each of them again from each of them.
    const blanks = ' '.repeat(400_000);
    deepStrictEqual(parse(`A${blanks}x`, service, ''), { kind: 'person', name: `A${blanks.slice(0, 63)}` });
  });

  it('is read in the encoding that the commit names', () => {
    const commit = (name: string, encoding: string): Buffer =>
      Buffer.from(`author ${name} <a@b> 1 +0\ncommitter ${name} <a@b> 1 +0${encoding}\n\nx\n`, 'latin1');
    const nameOf = (object: Buffer): unknown => parseCommitAuthor(decodeCommit(object), 'x <y>');
    const named = (name: string): unknown => ({ kind: 'person', name });
    deepStrictEqual(nameOf(commit('J\u00fcrgen', '\nencoding ISO-8859-1')), named('J\u00fcrgen'));
    deepStrictEqual(nameOf(commit('\u00cf\u00f0', '\nencoding KOI8-R')), named('оП'));
    deepStrictEqual(nameOf(commit('J\u00c3\u00bcrgen', '')), named('J\u00fcrgen'));
    deepStrictEqual(nameOf(commit('Ada', '\nencoding none-such')), named('Ada'));
  });

  it('is the API, or the account of an accepted proposal, by the trailers of the service', () => {
    deepStrictEqual(parse(service, service, formatCommitMessage([homer])), { kind: 'api' });
    const message = formatCommitMessage([homer], ['Proposed-by: 7', 'Reviewed-by: 8']);
    deepStrictEqual(parse(service, service, message), { kind: 'proposal', account: '7', reviewer: '8' });
  });

  it('is a person of another identity, whatever the trailers say, which the check points out', () => {
    const mallory = 'Mallory <m@example.org> 1 +0000';
    const message = formatCommitMessage([homer], ['Proposed-by: 7']);
    deepStrictEqual(parse(mallory, mallory, message), { kind: 'person', name: 'Mallory' });
    const toCommit = (committer: string, text: string): string =>
      `tree 1\nauthor ${mallory}\ncommitter ${committer}\n\n${text}`;
    strictEqual(findServiceTrailer(toCommit(mallory, message)), 'Bot:');
    strictEqual(findServiceTrailer(toCommit(mallory, 'Edit\n\nChanged-by: Marge\n')), 'Changed-by:');
    strictEqual(findServiceTrailer(toCommit(service, message)), undefined);
    strictEqual(findServiceTrailer(toCommit(mallory, 'Edit\n\nBot: 7\n\nMore.\n')), undefined);
  });

  it('is the person who ran a command', () => {
    const message = formatCommitMessage([homer], [formatChangedBy('marge')]);
    deepStrictEqual(parse(service, service, message), { kind: 'person', name: 'marge' });
  });
});
