import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { appendFileSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stateRef } from '../../../src/git/refs.ts';
import { checkRemote } from '../../../src/commands/doctor-network.ts';
import { doctorContext } from '../../support/doctor.ts';
import { proposalMachine } from '../../support/proposal-machines.ts';
import { author, proposalSettings } from '../../support/proposals.ts';
import { originRemote, type TestService } from '../../support/service.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/loopback.ts';
import { botId, mainPage, pagePath } from '../../support/sample.ts';
import { clearedLock } from '../../support/service-log.ts';
import { sharedRepository } from '../../support/shared-repository.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import {
  linesAbout,
  metric,
  record,
  remoteFaults,
  type Replica,
  replicaPage,
  startReplica,
  stateOf,
  withProposals,
} from '../../support/replica.ts';

describe('a service with a remote', () => {
  /** The bot of the test, which no other test changes, its page, and the id and the page of one that can be added. */
  let [id, homer, newId, newPage] = ['311', '', '', ''];
  beforeEach(() => {
    id = String(Number(id) + 1);
    newId = `1${id}`;
    [homer = '', newPage = ''] = [id, newId].map((each) => pagePath(each));
  });
  const isInStep = async (service: TestService): Promise<void> =>
    await eventually(async () => deepStrictEqual(await remoteFaults(service), []));
  const isFaulty = async (service: TestService, fault: RegExp): Promise<void> =>
    await eventually(async () => match((await remoteFaults(service))[0] ?? '', fault));

  const withToken = (replica: Replica): Replica & { readonly token: string } => ({
    ...replica,
    token: replica.tokens.get(id) ?? '',
  });

  describe('that it fetches every second and pushes to at once', () => {
    let replica: Replica;
    before(async () => {
      replica = await startReplica();
    });

    it('fetches although killed git processes have left the locks of its refs @long', async () => {
      const { shared, clone, service } = withToken(replica);
      for (const ref of ['botshelf/remote/branch', 'botshelf/remote/base-main', 'remotes/origin/main'])
        writeFileSync(join(clone.folder, '.git/refs', `${ref}.lock`), '');
      service.expectLog(clearedLock);
      shared.mergePullRequest((person) =>
        person.write(homer, replicaPage.replace('The page.', 'A free page.')),
      );
      await eventually(async () => match((await record(service, id))?.contents.en.page ?? '', /A free page/));
      rmSync(join(clone.folder, '.git/refs/remotes/origin/main.lock'));
    });

    it('has the settings in force that were merged there', async () => {
      const { shared, service } = replica;
      shared.mergePullRequest((person) => person.write('botshelf.json', '{ "name": "Merged" }\n'));
      await eventually(async () =>
        match(await (await fetch(service.address)).text(), /<title>Merged<\/title>/),
      );
    });

    it('goes on while the remote is away, says so and since when, logs each cause once, and heals by itself', async () => {
      const { shared, clone, service, token } = withToken(replica);
      const before = service.log().length;
      const leadTo = async (address: string, cause: RegExp): Promise<void> => {
        service.expectLog(new RegExp(`not in step with the remote: .*${cause.source}`));
        clone.git('remote', 'set-url', 'origin', address);
        await isFaulty(service, cause);
      };
      await leadTo(`${shared.address}.gone`, /gone' does not appear to be a git repository/);
      match((await remoteFaults(service))[0] ?? '', /^not in step with the remote since \d{4}-.*: git says/);
      strictEqual((await service.post(id, token, { category: 'music', count: 8 })).status, 200);
      strictEqual((await service.request('/readyz')).status, 200);
      ok((await metric(service, 'botshelf_remote_fault_age_seconds')) > 0);
      await leadTo(`http://127.0.0.1:${await freePort()}/x`, /unable to access/);
      clone.git('remote', 'set-url', 'origin', shared.address);
      await eventually(() => {
        match(shared.git('show', `main:${homer}`), /music/);
        match(stateOf(shared, id), /"count":8,/);
      });
      await isInStep(service);
      strictEqual(await metric(service, 'botshelf_remote_fault_age_seconds'), 0);
      const logged = service.log().slice(before);
      strictEqual(logged.match(/"msg":"not in step with the remote/g)?.length, 2);
    });

    it('follows a branch that a person pushed with force, and names what was removed until it is back', async () => {
      const { shared, clone, service, token } = withToken(replica);
      await service.post(id, token, { category: 'music' });
      await eventually(() => match(shared.git('show', `main:${homer}`), /music/));
      const removed = /1 commit and changes of 1 bot/;
      service.expectLog(/the remote's branch was rewritten: .* has 1 commit and changes of 1 bot/);
      shared.maintainer.git('pull', '-q', 'origin', 'main');
      shared.maintainer.git('push', '-q', '--force', 'origin', 'main~1:main');
      await eventually(async () => strictEqual((await record(service, id))?.category, 'fun'));
      await isFaulty(service, removed);
      const { state, reason, fix } = await checkRemote(doctorContext(clone.folder, originRemote));
      match(`${state} ${reason}`, /^warning .*1 commit and changes of 1 bot/);
      const [, from = '', to = ''] = /"git push origin (\S+):(\S+)"/.exec(fix ?? '') ?? [];
      clone.git('push', '-q', 'origin', `${from}:${to}`);
      shared.mergePullRequest((person) => person.git('merge', '-q', to.replace('refs/heads', 'origin')));
      await eventually(async () => strictEqual((await record(service, id))?.category, 'music'));
      await isInStep(service);
      shared.git('config', 'gc.cruftPacks', 'true');
      strictEqual((await checkRemote(doctorContext(clone.folder, originRemote))).state, 'ok');
    });

    it('refuses a remote that has nothing in common with the clone, and one whose branch is gone', async () => {
      const { shared, clone, service } = withToken(replica);
      const other = sharedRepository({ x: 'y' });
      const foreign = shared.git('rev-parse', 'main');
      other.git('fetch', '-q', shared.address, `main:${stateRef}`);
      service.expectLog(/not in step with the remote: .*no commit in common/);
      service.expectLog(/not in step with the remote: .*no such branch any more/);
      clone.git('remote', 'set-url', 'origin', other.address);
      await isFaulty(service, /no commit in common/);
      strictEqual(clone.tryGit('merge-base', '--is-ancestor', foreign, stateRef), 1);
      clone.git('remote', 'set-url', 'origin', shared.address);
      await isInStep(service);
      shared.git('branch', '-m', 'main', 'trunk');
      await isFaulty(service, /no such branch any more/);
      shared.git('branch', '-m', 'trunk', 'main');
      await isInStep(service);
    });

    it('waits while a person merges in the clone', async () => {
      const { shared, clone, service } = withToken(replica);
      service.expectLog(/not in step with the remote: .*in progress in the clone/);
      const mark = join(clone.folder, '.git/MERGE_HEAD');
      appendFileSync(mark, `${clone.git('rev-parse', 'HEAD')}\n`);
      shared.mergePullRequest((person) => person.write(homer, replicaPage.replace('"fun"', '"games"')));
      await isFaulty(service, /in progress in the clone/);
      strictEqual((await record(service, id))?.category, 'fun');
      rmSync(mark);
      await eventually(async () => strictEqual((await record(service, id))?.category, 'games'));
    });

    it('sets edited of a bot that a pull request changed without raising it, to the time of the merge', async () => {
      const { shared, service } = withToken(replica);
      const commit = shared.mergePullRequest((person) => {
        person.write(homer, replicaPage.replace('"fun"', '"games"'));
        person.write(newPage, mainPage({ name: 'Marge' }));
      });
      const time = Number(shared.git('log', '-1', '--format=%ct', commit)) * 1000;
      await eventually(async () => strictEqual((await record(service, id))?.edited, time));
      strictEqual((await record(service, newId))?.edited, 1_700_000_000_000, 'edited of a new bot stays');
      await eventually(() => match(stateOf(shared, id), new RegExp(`"edited":${time}`)));
      strictEqual(shared.git('rev-parse', 'main'), commit, 'the service commits nothing to the branch');
      shared.mergePullRequest((person) => person.write(homer, mainPage({ edited: time + 12_345 })));
      await eventually(async () => strictEqual((await record(service, id))?.edited, time + 12_345));
    });
  });

  describe('that it pushes to when it stops', () => {
    let replica: Replica;
    before(async () => {
      replica = await startReplica({ BOTSHELF_PUSH_SECONDS: '3600' });
    });

    it('names the last 20 files of which a merge set something aside, each until it changes again @long', async () => {
      const { shared, clone, service } = replica;
      service.expectLog(/set aside \\"file\\" from this clone in/);
      const paths = Array.from({ length: 21 }, (_, i) => `docs/${i + 10}.md`);
      const write = (text: string): Record<string, string> =>
        Object.fromEntries(paths.map((path) => [path, text]));
      // The service may have the lock of the index.
      await eventually(() => void clone.commit(write('ours')));
      shared.mergePullRequest((person) => {
        for (const path of paths) person.write(path, 'theirs');
      });
      await eventually(async () => {
        const faults = await remoteFaults(service);
        strictEqual(faults.length, 20);
        match(faults[0] ?? '', /^set aside "file" from this clone in "docs\/11\.md", as the remote has/);
      });
      shared.mergePullRequest((person) => person.write('docs/30.md', 'both'));
      await eventually(async () => strictEqual((await remoteFaults(service)).length, 19));
    });

    it('takes in what it is fetching when it is stopped, and pushes what it has not pushed yet @long', async () => {
      const { shared, clone, service, token } = withToken(replica);
      strictEqual((await service.post(id, token, { category: 'music' })).status, 200);
      const folder = tempFolder();
      const [merged = '', begun = '', slowly = ''] = 'merged begun slowly'
        .split(' ')
        .map((name) => join(folder, name));
      const wait = `while [ ! -e ${merged} ]; do sleep 0.1; done\ntouch ${begun}\nsleep 0.5\n`;
      writeFileSync(slowly, `#!/bin/sh\n${wait}exec git-upload-pack "$@"\n`, { mode: 0o755 });
      clone.git('config', 'remote.origin.uploadpack', slowly);
      shared.mergePullRequest((person) => person.write(newPage, mainPage({ name: 'Marge' })));
      writeFileSync(merged, '');
      await eventually(() => existsSync(begun));
      await service.stop();
      match(shared.git('show', `main:${homer}`), /music/);
      match(shared.git('show', `main:${newPage}`), /Marge/);
    });
  });

  it('pushes its branch although the remote refuses proposals, names that once, and pushes them later @long', async () => {
    const { shared, clone, service, token } = withToken(await startReplica(withProposals));
    service.expectLog(/proposals are not shared with the other machines: the remote says: no proposals/);
    shared.mergePullRequest((person) => person.write('botshelf.json', proposalSettings));
    const hook = join(shared.folder, 'hooks/update');
    const script = '#!/bin/sh\ncase "$1" in refs/botshelf/[cp]*) echo no proposals; exit 1;; esac\n';
    writeFileSync(hook, script, { mode: 0o755 });
    const { proposals, clone: other } = await proposalMachine(shared);
    const pages = new Map([[homer, replicaPage.replace('The page.', 'A better page.')]]);
    const sent = { subject: botId(id), proposer: author, pages, note: '' };
    const { ref, version } = (await proposals.send(sent)).proposal;
    clone.git('fetch', '-q', other.folder, `${ref}:${ref}`);
    await eventually(async () =>
      match((await remoteFaults(service)).join(), /^proposals are not shared .* since /),
    );
    strictEqual((await service.post(id, token, { category: 'music' })).status, 200);
    await eventually(() => match(shared.git('show', `main:${homer}`), /music/));
    strictEqual(linesAbout(service, 'proposals are not shared').length, 1);
    rmSync(hook);
    await eventually(() => strictEqual(shared.git('rev-parse', ref), version));
    await isInStep(service);
  });
});
