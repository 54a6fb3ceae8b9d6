import { strictEqual } from 'node:assert/strict';
import { testRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { startTestService } from '../support/service.ts';
import { issueTestTokens } from '../support/token.ts';
import { updateRequest } from '../support/update-request.ts';

describe('many edits at once', () => {
  const ids = Array.from({ length: 256 }, (_, i) => String(i + 1));

  it('are each served after their response, and the clone is clean after the last one @long', async () => {
    const repository = testRepository(Object.fromEntries(ids.map((id) => [pagePath(id), mainPage()])));
    const tokens = await issueTestTokens(repository.folder, ids);
    const { address } = await startTestService({}, { root: repository.folder });
    await Promise.all(
      ids.map(async (id) => {
        const website = `https://example.org/${id}`;
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
});
