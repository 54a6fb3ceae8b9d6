import { ok, strictEqual } from 'node:assert/strict';
import { eventually } from '../../support/eventually.ts';
import { testRepository, type TestRepository } from '../../support/repository.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import {
  type Answer,
  originRemote,
  startTestServiceProcess,
  type TestServiceProcess,
} from '../../support/service.ts';
import { sharedRepository } from '../../support/shared-repository.ts';
import { issueTestToken } from '../../support/token.ts';
import { faultInjector, type FaultInjector, forEachFault, isWhole } from './fault-injector.ts';
import { needs } from '../../support/tools.ts';

const homer = pagePath('312');

needs('gcc', describe)('a system call that fails once', function () {
  this.timeout(isWhole ? 0 : 120_000);

  it('in an edit leaves no half-done change, is reported, and is retried without an operator', async () => {
    const repository = testRepository({ [homer]: mainPage({ website: null }) });
    const token = await issueTestToken(repository.folder, '312');
    const injector = faultInjector(repository.folder);
    let service = await start(repository, injector);
    let number = 0;
    await forEachFault(injector, async (inject, restart) => {
      const website = websiteOf(++number);
      const before = repository.git('rev-parse', 'HEAD');
      const post = async (): Promise<Answer> => await service.post('312', token, { website });
      const { result, failed } = await inject(post);
      const isThere = committedWebsite(repository) === website;
      if (result.status === 200) ok(isThere, `${failed}: it is committed`);
      else {
        strictEqual(result.status, 503, `${failed}: ${result.text}`);
        ok(!isThere || /saved/.test(result.text), `${failed}: reported as not committed: ${result.text}`);
        if (!isThere) strictEqual(repository.git('rev-parse', 'HEAD'), before, failed);
        await eventually(async () => strictEqual((await post()).status, 200, failed));
      }
      strictEqual(await servedWebsite(service), website, `${failed}: it is served`);
      await isClean(repository, service, failed);
      if (!restart) return;
      await service.end('SIGKILL');
      service = await start(repository, injector);
      strictEqual(await servedWebsite(service), website, `${failed}: it is served after a restart`);
      await isClean(repository, service, `${failed}, and a restart`);
    });
    strictEqual(repository.git('fsck', '--strict', '--no-dangling'), '');
  });

  it('between the refs of a merge leaves none of its files behind @long', async () => {
    const shared = sharedRepository({ [homer]: mainPage({ website: null }) });
    const clone = shared.clone();
    const injector = faultInjector(clone.folder, 'rename of .git/refs/botshelf/remote/base-main');
    const service = await start(clone, injector, originRemote);
    shared.mergePullRequest((person) => person.write(homer, mainPage({ website: websiteOf(1) })));
    await eventually(async () => strictEqual(await servedWebsite(service), websiteOf(1)));
    injector.arm(1, 0);
    shared.mergePullRequest((person) => person.write(homer, mainPage({ website: websiteOf(2) })));
    await eventually(async () => strictEqual(await servedWebsite(service), websiteOf(2)));
    strictEqual(injector.disarm().failed, 'rename of .git/refs/botshelf/remote/base-main, ENOSPC');
    await isClean(clone, service, 'the second ref');
  });

  it('in a merge leaves no half-done change, is reported, and is retried without an operator', async () => {
    const shared = sharedRepository({ [homer]: mainPage({ website: null }), [pagePath('7')]: mainPage() });
    const clone = shared.clone();
    const injector = faultInjector(clone.folder);
    let service = await start(clone, injector, originRemote);
    let number = 0;
    await forEachFault(injector, async (inject, restart) => {
      const website = websiteOf(++number);
      const { failed } = await inject(async () => {
        const commit = shared.mergePullRequest((person) => {
          person.write(homer, mainPage({ website }));
          person.write(pagePath(`${number}8`), mainPage());
          person.write(pagePath('7'), mainPage({ name: `Name ${number}` }));
        });
        await eventually(() => clone.git('merge-base', '--is-ancestor', commit, 'HEAD'), 60);
      });
      await eventually(async () => strictEqual(await servedWebsite(service), website, failed), 90);
      await isClean(clone, service, failed);
      if (!restart) return;
      await service.end('SIGKILL');
      service = await start(clone, injector, originRemote);
      strictEqual(await servedWebsite(service), website, `${failed}: it is served after a restart`);
      await isClean(clone, service, `${failed}, and a restart`);
    });
    strictEqual(clone.git('fsck', '--strict', '--no-dangling'), '');
  });
});

async function start(
  { folder }: TestRepository,
  { env }: FaultInjector,
  more: Readonly<Record<string, string>> = {},
): Promise<TestServiceProcess> {
  const service = await startTestServiceProcess({}, { root: folder, env: { ...env, ...more } });
  service.allowLog(/./);
  return service;
}

async function servedWebsite(service: TestServiceProcess): Promise<string | null> {
  return (await service.request('/api/v2/bots/312')).json.website;
}

function committedWebsite(repository: TestRepository): string | undefined {
  return /"website": "(.*)"/.exec(repository.git('show', `HEAD:${homer}`))?.[1];
}

/** HEAD, index and work tree agree, and nothing is left to be done. */
async function isClean(
  repository: TestRepository,
  service: TestServiceProcess,
  failed: string,
): Promise<void> {
  await eventually(async () => {
    strictEqual(repository.status(), '', failed);
    const { repository: ofClone, remote } = (await service.request('/readyz')).json.parts;
    strictEqual(ofClone.faults.join(), '', failed);
    strictEqual((remote?.faults ?? []).join(), '', failed);
    // A failed round is retried after some seconds, and a whole run is long and runs next to others.
  }, 60);
}

function websiteOf(number: number): string {
  return `https://example.org/${number}`;
}
