import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import {
  findSubject,
  isBot,
  parseSubject,
  type Subject,
  toSubjectFolder,
  toSubjectPath,
} from '../../src/proposals/proposal.ts';
import { readCases } from '../support/fixture-lines.ts';
import { botId } from '../support/sample.ts';

const bot = botId('1042');

describe('what a proposal is about', () => {
  it('is a bot, a profile or a collection, each with its folder and its page', () => {
    for (const [subject, folder, path] of [
      [bot, 'bots/042', '/bots/1042'],
      ['profile-7', 'people', '/authors/7'],
      ['collection-for-2', 'collections', '/collections/for-2'],
    ] as const) {
      strictEqual(parseSubject(subject), subject);
      strictEqual(isBot(subject as Subject), subject === bot);
      strictEqual(toSubjectFolder(subject as Subject), folder);
      strictEqual(toSubjectPath(subject as Subject), path);
    }
  });

  it('is nothing else', () => {
    const texts = 'x 1x profile- profile-x xprofile-7 collection- collection-A collection-a/b bot-1'.split(
      ' ',
    );
    for (const text of ['', 'profile-7\n', ...texts]) strictEqual(parseSubject(text), undefined, text);
  });

  for (const { input: path, expected } of readCases('subjects-of-paths'))
    it(`is ${expected[0] ?? 'nothing'} by the path ${path}, below the folder of the catalogue`, () => {
      const found = [findSubject(path), findSubject(`list/${path}`, 'list/'), findSubject(path, 'list/')];
      deepStrictEqual(found, [expected[0], expected[0], undefined]);
    });
});
