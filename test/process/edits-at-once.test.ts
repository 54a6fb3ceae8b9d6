import { strictEqual } from 'node:assert/strict';
import { type TestRepository, testRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { startTestService } from '../support/service.ts';
import { issueTestTokens } from '../support/token.ts';
import { updateRequest } from '../support/update-request.ts';

describe('many edits at once', function () {
  const ids = Array.from({ length: 256 }, (_, i) => String(i + 1));
  let repository: TestRepository;
  let tokens: Map<string, string>;
  let address: string;
  before(async () => {
    repository = testRepository(Object.fromEntries(ids.map((id) => [pagePath(id), mainPage()])));
    tokens = await issueTestTokens(repository.folder, ids);
    ({ address } = await startTestService({}, { root: repository.folder }));
  });

  for (const many of [4, 256]) {
    it(`${many}: each is served after its response, and the clone is clean after the last one`, async () => {
      await Promise.all(
        ids.slice(0, many).map(async (id) => {
          const website = `https://example.org/${many}/${id}`;
          const answer = await fetch(
            `${address}/api/v2/bots/${id}`,
            updateRequest(tokens.get(id) ?? '', { website }),
          );
          const text = await answer.text();
          strictEqual(answer.status, 200, text);
          const read = await fetch(`${address}/api/v2/bots/${id}`);
          strictEqual(((await read.json()) as { website: string }).website, website);
        }),
      );
      strictEqual(repository.status(), '');
      strictEqual(repository.git('fsck', '--strict', '--no-dangling'), '');
      for (const id of ids.slice(0, 3))
        strictEqual(repository.git('show', `HEAD:${pagePath(id)}`), repository.read(pagePath(id)).trim());
    });
  }
});
