import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import {
  findSubject,
  isBot,
  parseSubject,
  readFileTexts,
  type Subject,
  toSubjectFolder,
  toSubjectPath,
} from '../../src/proposals/proposal.ts';
import { readCases } from '../support/fixture-lines.ts';
import { openUntilEnd } from '../support/opened.ts';
import { testRepository } from '../support/repository.ts';
import { botId, mainPage, pagePath, translation } from '../support/sample.ts';
import { collection, profile } from '../support/side-files.ts';

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

  it('has its own files of a commit and no others', async () => {
    const files = {
      [pagePath(bot)]: mainPage(),
      [pagePath(bot, 'fr')]: translation('Homère', 'Répond.'),
      [pagePath('2042')]: mainPage(),
      'people/7.json': profile(),
      'collections/fun.en.md': collection({}),
      'collections/few.en.md': collection({}),
    };
    for (const prefix of ['', 'list/']) {
      const clone = testRepository(
        Object.fromEntries(Object.entries(files).map(([path, text]) => [prefix + path, text])),
      );
      const repository = await openUntilEnd(`${clone.folder}/${prefix}`);
      const read = async (subject: Subject): Promise<object> =>
        Object.fromEntries(await readFileTexts(repository, clone.git('rev-parse', 'HEAD'), subject));
      const [english, french] = [pagePath(bot), pagePath(bot, 'fr')];
      deepStrictEqual(await read(bot), { [english]: files[english], [french]: files[french] });
      deepStrictEqual(await read('profile-7'), { 'people/7.json': profile() });
      deepStrictEqual(await read('collection-fun'), { 'collections/fun.en.md': collection({}) });
      deepStrictEqual(await read(botId('5')), {});
    }
  });
});
