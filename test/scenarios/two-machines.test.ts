import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { botshelf } from '../support/command-line.ts';
import { eventually } from '../support/eventually.ts';
import { linesAbout, record, type Replica, replicaPage, startReplica, stateOf } from '../support/replica.ts';
import { type TestRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { originRemote, startTestService, type TestService } from '../support/service.ts';

describe('two machines that share a repository', () => {
  let a: Replica;
  let b: TestService;
  let cloneOfB: TestRepository;
  before(async () => {
    a = await startReplica();
    cloneOfB = a.shared.clone();
    const env = { ...originRemote, BOTSHELF_STATE_SECONDS: '1' };
    b = await startTestService({}, { root: cloneOfB.folder, env });
  });

  it('both show the content and the count that were posted to one', async () => {
    const { shared, clone, service, tokens } = a;
    const token = tokens.get('312') ?? '';
    strictEqual((await service.post('312', token, { category: 'music', count: 5 })).status, 200);
    await eventually(async () => {
      const counts = (await b.request('/api/v2/bots/312/counts')).json;
      deepStrictEqual([(await record(b, '312')).category, counts.at(-1)?.count], ['music', 5]);
    });
    match(shared.git('show', `main:${pagePath('312')}`), /"category": "music"/);
    match(stateOf(shared, '312'), /"312":\{"count":5,/);
    strictEqual(shared.git('rev-parse', 'main'), clone.git('rev-parse', 'HEAD'));
    strictEqual(shared.git('for-each-ref', '--format=%(refname)'), 'refs/botshelf/state\nrefs/heads/main');
  });

  it('both take a token that was issued on one, and not the one before once the new one is shown @long', async () => {
    const issue = async ({ folder }: TestRepository): Promise<string> => {
      const env = { BOTSHELF_REMOTE: 'origin' };
      return (await botshelf(folder, ['token', '313'], { env })).stdout.trim();
    };
    const statusOf = async (service: TestService, token: string): Promise<number> =>
      (await service.post('313', token, { count: 5 })).status;
    const first = await issue(a.clone);
    // On a slow machine the look for a token at the remote ends without an answer.
    await eventually(async () => strictEqual(await statusOf(b, first), 200));
    strictEqual(await statusOf(a.service, first), 200);
    const second = await issue(cloneOfB);
    await eventually(async () => strictEqual(await statusOf(a.service, second), 200));
    strictEqual(await statusOf(a.service, first), 401);
  });

  it('both show what a pull request has merged, work tree and index following', async () => {
    const { shared, clone, service } = a;
    const commit = shared.mergePullRequest((person) => {
      person.write(pagePath('314'), replicaPage.replace('The page.', 'A better page.'));
      person.write(pagePath('1314'), mainPage({ name: 'Marge' }));
      person.write('README.md', 'Not a bot.');
    });
    for (const each of [service, b])
      await eventually(async () => {
        strictEqual((await record(each, '1314'))?.contents.en.name, 'Marge');
        match((await record(each, '314'))?.contents.en.page ?? '', /A better page/);
      });
    await eventually(() => strictEqual(clone.status(), ''));
    strictEqual(clone.read('README.md'), 'Not a bot.');
    clone.git('merge-base', '--is-ancestor', commit, 'HEAD');
    await eventually(() =>
      match(linesAbout(service, 'fast-forwarded').join(), /remote's branch \(\d commits, \d files\)/),
    );
  });
});
