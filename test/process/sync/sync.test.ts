import { match, notStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { appendFileSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stateRef } from '../../../src/git/repository.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/loopback.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { clearedLock } from '../../support/service-log.ts';
import { sharedRepository } from '../../support/shared-repository.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import {
  metric,
  post,
  record,
  remoteFaults,
  type Replica,
  replicaPage,
  setAside,
  startReplica,
  stateOf,
} from '../../support/replica.ts';

describe('a service with a remote', () => {
  /** The bot of the test, which no other test changes, its page, and the id and the page of one that can be added. */
  let id = '311';
  let homer: string;
  let newId: string;
  let newPage: string;
  beforeEach(() => {
    id = String(Number(id) + 1);
    homer = pagePath(id);
    newId = `1${id}`;
    newPage = pagePath(newId);
  });

  /** The ref of the branch before the only rewrite. */
  const keptBranch = ({ git }: Replica['clone']): string =>
    git('for-each-ref', '--format=%(refname)', 'refs/botshelf/remote/before-rewrite-*');

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

    it('keeps uncommitted edits of a person in the clone', async () => {
      const { shared, clone, service, token } = withToken(replica);
      writeFileSync(join(clone.folder, homer), replicaPage.replace('doughnuts', 'beer'));
      shared.mergePullRequest((person) => person.write(homer, replicaPage.replace('"fun"', '"games"')));
      service.expectLog(/en\.md.* is behind the branch: it has uncommitted edits/);
      await eventually(() => match(clone.git('show', `HEAD:${homer}`), /"games"/));
      await eventually(async () => {
        const { parts } = (await service.request('/readyz')).json;
        match(
          parts.repository.faults.join(),
          new RegExp(`${homer}.* has uncommitted edits: commit or discard them`),
        );
      });
      match(clone.read(homer), /beer[^]*"fun"/);
      const { status, headers } = await post(service, id, token, { category: 'music' });
      strictEqual(`${status} ${headers.get('retry-after')}`, '409 60');
      await eventually(() => clone.tryGit('checkout', '-q', '--', homer) === 0);
      await eventually(async () => strictEqual((await record(service, id))?.category, 'games'));
      await eventually(() => strictEqual(clone.status(), ''));
    });

    it('serves the last good version of a bot whose file a merge has broken, and goes on with the others', async () => {
      const { shared, service, token } = withToken(replica);
      service.expectLog(new RegExp(`${homer}.*a file breaks a rule`));
      service.expectLog(new RegExp(`requests are refused: ${homer} is faulty`));
      shared.mergePullRequest((person) => {
        person.write(homer, replicaPage.replace('"Homer",', '"Homer"'));
        person.write(newPage, mainPage({ name: 'Marge' }));
      });
      await eventually(async () => strictEqual((await record(service, newId))?.contents.en.name, 'Marge'));
      strictEqual((await record(service, id))?.contents.en.name, 'Homer');
      strictEqual((await post(service, id, token, { category: 'music' })).status, 503);
      strictEqual((await post(service, id, token, { count: 6 })).status, 200);
    });

    it('follows a branch that was reset to an older commit, without bringing back what was taken away', async () => {
      const { shared, clone, service, token } = withToken(replica);
      service.expectLog(/the remote's branch was rewritten/);
      await post(service, id, token, { category: 'music' });
      await eventually(() => match(shared.git('show', `main:${homer}`), /music/));
      const { maintainer } = shared;
      maintainer.git('push', '-q', '--force', 'origin', 'main~0:main');
      await eventually(async () => strictEqual((await record(service, id))?.category, 'fun'));
      await eventually(() => strictEqual(clone.git('rev-parse', 'HEAD'), shared.git('rev-parse', 'main')));
      await eventually(() => strictEqual(clone.status(), ''));
      clone.git('update-ref', '-d', keptBranch(clone));
      await eventually(async () => strictEqual((await remoteFaults(service)).length, 0));
    });

    it('goes on while the remote is away, says so and since when, and heals by itself', async () => {
      const { shared, clone, service, token } = withToken(replica);
      service.expectLog(/not in step with the remote: .*gone/);
      clone.git('remote', 'set-url', 'origin', `${shared.address}.gone`);
      await eventually(async () => {
        const [fault = ''] = await remoteFaults(service);
        match(fault, /^not in step with the remote since \d{4}-\d\d-\d\dT.*: git says: fatal: .*gone/);
      });
      strictEqual((await post(service, id, token, { category: 'music', count: 8 })).status, 200);
      strictEqual((await service.request('/readyz')).status, 200);
      ok((await metric(service, 'botshelf_remote_fault_age_seconds')) > 0);
      clone.git('remote', 'set-url', 'origin', shared.address);
      await eventually(() => {
        match(shared.git('show', `main:${homer}`), /music/);
        match(stateOf(shared, id), /"count":8,/);
      });
      await eventually(async () => strictEqual((await remoteFaults(service)).length, 0));
      strictEqual(await metric(service, 'botshelf_remote_fault_age_seconds'), 0);
    });

    it('logs each cause for which it is out of step, once', async () => {
      const { shared, clone, service } = withToken(replica);
      service.expectLog(/not in step with the remote: .*gone' does not appear to be a git repository/);
      service.expectLog(/not in step with the remote: .*unable to access/);
      const before = service.log().length;
      clone.git('remote', 'set-url', 'origin', `${shared.address}.gone`);
      await eventually(async () => match((await remoteFaults(service))[0] ?? '', /gone/));
      clone.git('remote', 'set-url', 'origin', `http://127.0.0.1:${await freePort()}/x`);
      await eventually(async () => match((await remoteFaults(service))[0] ?? '', /unable to access/));
      clone.git('remote', 'set-url', 'origin', shared.address);
      await eventually(async () => strictEqual((await remoteFaults(service)).length, 0));
      const logged = service
        .log()
        .slice(before)
        .match(/"msg":"not in step with the remote/g);
      strictEqual(logged?.length, 2);
    });

    it('refuses a remote that has nothing in common with the clone, and one whose branch is gone', async () => {
      const { shared, clone, service } = withToken(replica);
      const other = sharedRepository({ x: 'y' });
      const foreign = shared.git('rev-parse', 'main');
      other.git('fetch', '-q', shared.address, `main:${stateRef}`);
      service.expectLog(/not in step with the remote: .*no commit in common/);
      service.expectLog(/not in step with the remote: .*no such branch any more/);
      clone.git('remote', 'set-url', 'origin', other.address);
      await eventually(async () => match((await remoteFaults(service))[0] ?? '', /no commit in common/));
      strictEqual(clone.tryGit('merge-base', '--is-ancestor', foreign, stateRef), 1);
      clone.git('remote', 'set-url', 'origin', shared.address);
      await eventually(async () => strictEqual((await remoteFaults(service)).length, 0));
      shared.git('branch', '-m', 'main', 'trunk');
      await eventually(async () => match((await remoteFaults(service))[0] ?? '', /no such branch any more/));
      shared.git('branch', '-m', 'trunk', 'main');
      await eventually(async () => strictEqual((await remoteFaults(service)).length, 0));
    });

    it('waits while a person merges in the clone', async () => {
      const { shared, clone, service } = withToken(replica);
      service.expectLog(/not in step with the remote: .*in progress in the clone/);
      const mark = join(clone.folder, '.git/MERGE_HEAD');
      appendFileSync(mark, `${clone.git('rev-parse', 'HEAD')}\n`);
      shared.mergePullRequest((person) => person.write(homer, replicaPage.replace('"fun"', '"games"')));
      await eventually(async () => match((await remoteFaults(service))[0] ?? '', /in progress in the clone/));
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

    it('never sets edited of what owners posted', async () => {
      const { shared, service, token } = withToken(replica);
      await post(service, id, token, { category: 'music' });
      await eventually(() => match(shared.git('show', `main:${homer}`), /music/));
      const edited = (await record(service, id))?.edited;
      const tip = shared.git('rev-parse', 'main');
      shared.mergePullRequest((person) => person.write('README.md', 'x'));
      await eventually(() => strictEqual(Boolean(shared.git('cat-file', '-t', tip)), true));
      await eventually(async () => ok((await record(service, id))?.edited === edited));
      strictEqual(shared.git('log', '--format=%s', `${tip}..main`).includes('edited'), false);
    });
  });

  describe('that it pushes to when it stops', () => {
    let replica: Replica;
    before(async () => {
      replica = await startReplica({ BOTSHELF_PUSH_SECONDS: '3600' });
    });

    it('replays what it had not pushed onto a branch that was rewritten', async () => {
      const { shared, clone, service, token } = withToken(replica);
      service.expectLog(/the remote's branch was rewritten/);
      await post(service, id, token, { category: 'music' });
      const { maintainer } = shared;
      const before = clone.git('rev-parse', 'HEAD');
      maintainer.git('commit', '-q', '--amend', '-m', 'Begin anew');
      maintainer.commit({ [newPage]: mainPage({ name: 'Marge' }) });
      maintainer.git('push', '-q', '--force', 'origin', 'main');
      await eventually(async () => strictEqual((await record(service, newId))?.contents.en.name, 'Marge'));
      strictEqual((await record(service, id))?.category, 'music');
      strictEqual(clone.git('rev-list', '--count', 'HEAD', '^' + maintainer.git('rev-parse', 'HEAD')), '1');
      strictEqual(
        clone.git('log', '-1', '--format=%s'),
        `Replay, on the rewritten branch, the updates of the bot ${id}`,
      );
      strictEqual(clone.git('rev-parse', keptBranch(clone)), before);
      clone.git('update-ref', '-d', keptBranch(clone));
      await eventually(() => strictEqual(clone.status(), ''));
    });

    it('merges what both sides changed by meaning, and keeps both histories', async () => {
      const { shared, clone, service, token } = withToken(replica);
      service.expectLog(setAside);
      const first = shared.git('rev-parse', 'main');
      await post(service, id, token, { category: 'music', website: 'https://ours.example/' });
      const ours = clone.git('rev-parse', 'HEAD');
      const theirs = shared.mergePullRequest((person) =>
        person.write(
          homer,
          replicaPage
            .replace('"website": null', '"website": "https://theirs.example/"')
            .replace('The page.', 'A better page.'),
        ),
      );
      await eventually(async () => {
        const { category, website, contents } = (await record(service, id)) ?? {};
        strictEqual(category, 'music');
        strictEqual(website, 'https://theirs.example/');
        match(contents.en.page, /A better page/);
      });
      const merge = clone.git('log', '-1', '--merges', '--format=%H', '--grep=Set aside');
      strictEqual(clone.git('log', '-1', '--format=%P', merge), `${theirs} ${ours}`);
      match(
        clone.git('log', '-1', '--format=%B', merge),
        new RegExp(`"${homer}": website\n\n(?:Bot: \\d+\n)?Bot: ${id}$`),
      );
      notStrictEqual(shared.git('rev-parse', 'main'), first);
      await eventually(() => strictEqual(clone.status(), ''));
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
        match(
          faults[0] ?? '',
          /^set aside "file" from this clone in "docs\/11\.md", as the remote has changed/,
        );
      });
      shared.mergePullRequest((person) => person.write('docs/30.md', 'both'));
      await eventually(async () => strictEqual((await remoteFaults(service)).length, 19));
    });

    it('takes in what it is fetching when it is stopped, and pushes what it has not pushed yet @long', async () => {
      const { shared, clone, service, token } = withToken(replica);
      strictEqual((await post(service, id, token, { category: 'music' })).status, 200);
      const folder = tempFolder();
      const [merged, begun, slowly] = ['merged', 'begun', 'upload-pack'].map((name) =>
        join(folder, name),
      ) as [string, string, string];
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
});
