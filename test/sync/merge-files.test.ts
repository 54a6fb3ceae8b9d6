import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import type { GitFile } from '../../src/git/history.ts';
import { type FileVersions, mergeFiles, type MergedFiles } from '../../src/sync/merge-files.ts';
import { openUntilEnd } from '../support/opened.ts';
import { testRepository, type TestRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';

const page = pagePath('7');

describe('the merge of files', () => {
  let clone: TestRepository;
  beforeEach(() => {
    clone = testRepository();
  });

  it('takes of a page what each side changed', async () => {
    const { files, droppedEdits } = await merge(page, {
      base: mainPage(),
      ours: mainPage({ category: 'music' }),
      theirs: mainPage({ nsfw: true }),
    });
    const file = files.get(page);
    const text = file && 'content' in file ? file.content.toString() : '';
    strictEqual(text, mainPage({ category: 'music', nsfw: true }));
    deepStrictEqual(droppedEdits, []);
  });

  it('takes theirs of any other file, and says that ours was set aside', async () => {
    const { files, droppedEdits } = await merge('docs/a', { base: 'a', ours: 'b', theirs: 'c' });
    deepStrictEqual(files.get('docs/a'), store('c'));
    deepStrictEqual(droppedEdits, [
      { path: 'docs/a', what: 'file', of: 'ours', because: 'the remote has changed the same' },
    ]);
  });

  it('does not remove a file where theirs has a folder', async () => {
    const theirs = new Map([['docs/a/b', store('b')]]);
    const { files } = await merge('docs/a', { base: 'a', ours: 'b', theirs: null }, theirs);
    strictEqual(files.has('docs/a'), false);
  });

  function store(text: string): GitFile {
    clone.write('stored', text);
    return { mode: '100644', id: clone.git('hash-object', '-w', 'stored') };
  }

  async function merge(
    path: string,
    texts: Readonly<Record<keyof FileVersions, string | null>>,
    theirFiles: ReadonlyMap<string, GitFile | null> = new Map(),
  ): Promise<MergedFiles> {
    const [base = null, ours = null, theirs = null] = [texts.base, texts.ours, texts.theirs].map((text) =>
      text === null ? null : store(text),
    );
    const head = clone.git('rev-parse', 'HEAD');
    const repository = await openUntilEnd(clone.folder);
    const sides = { base: head, ours: head, theirs: head };
    return await mergeFiles(repository, new Map([[path, { base, ours, theirs }]]), theirFiles, sides);
  }
});
