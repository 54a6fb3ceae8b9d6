import { notStrictEqual, strictEqual } from 'node:assert/strict';
import { buildList, fileForm } from '../../../src/catalogue/lists/json-list.ts';
import { openCatalogue } from '../../support/live-catalogue.ts';
import { mainPage, pagePath } from '../../support/sample.ts';

describe('the list of all files', () => {
  it('has another digest where a file has another name and the same bytes', async () => {
    const digestOf = async (locale: string): Promise<string> => {
      const { catalogue } = await openCatalogue({ [pagePath('7', locale)]: mainPage() });
      const bots = catalogue.store.bots.all();
      strictEqual(bots.length, 1);
      return (await buildList({ bots, total: 1, next: undefined }, fileForm)).digest;
    };
    strictEqual(await digestOf('pt'), await digestOf('pt'));
    notStrictEqual(await digestOf('pt'), await digestOf('pt-BR'));
  });
});
