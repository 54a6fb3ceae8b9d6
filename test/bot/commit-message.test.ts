import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import {
  type CommitAuthor,
  decodeCommit,
  type EditedBot,
  findServiceTrailer,
  formatChangedBy,
  formatCommitMessage,
  parseCommitAuthor,
} from '../../src/bot/commit-message.ts';
import { readCases } from '../support/fixture-lines.ts';

interface Message {
  readonly bots: readonly EditedBot[];
  readonly trailers?: readonly string[];
  readonly changedBy?: string;
  readonly verb?: string;
  readonly reason?: string;
}

describe('the message of a commit', () => {
  for (const { title, input, expected } of readCases('commit-messages'))
    it(title, () => {
      const { bots, trailers = [], changedBy, ...more } = JSON.parse(input) as Message;
      const all = changedBy === undefined ? trailers : [...trailers, formatChangedBy(changedBy)];
      deepStrictEqual([JSON.stringify(formatCommitMessage(bots, all, more))], expected);
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
});

describe('who made a commit', () => {
  const parse = (author: string, committer: string, message: string): CommitAuthor =>
    parseCommitAuthor(
      `tree 1\nparent 2\nauthor ${author}\ncommitter ${committer}\ngpgsig -----\n \n -----\n\n${message}`,
      'Botshelf <bot@localhost>',
    );
  const service = 'Botshelf <bot@localhost> 1 +0000';

  for (const { title, input, expected } of readCases('commit-authors'))
    it(title, () =>
      deepStrictEqual([JSON.stringify(parse(...(JSON.parse(input) as [string, string, string])))], expected),
    );

  it('is found in no time where the name has many blanks', () => {
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

  it('is pointed out by the check where the trailers of the service are those of another identity', () => {
    const toCommit = (committer: string, text: string): string =>
      `tree 1\nauthor Mallory <m@example.org> 1 +0000\ncommitter ${committer}\n\n${text}`;
    const mallory = 'Mallory <m@example.org> 1 +0000';
    strictEqual(findServiceTrailer(toCommit(mallory, 'Edit\n\nBot: 1\nProposed-by: 7\n')), 'Bot:');
    strictEqual(findServiceTrailer(toCommit(mallory, 'Edit\n\nChanged-by: Marge\n')), 'Changed-by:');
    strictEqual(findServiceTrailer(toCommit(service, 'Edit\n\nBot: 1\n')), undefined);
    strictEqual(findServiceTrailer(toCommit(mallory, 'Edit\n\nBot: 7\n\nMore.\n')), undefined);
  });
});
