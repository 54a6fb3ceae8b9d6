import { deepStrictEqual, match, notStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { appendFileSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { shardNumber, shardPath } from '../../src/state/ref/shards.ts';
import { eventually } from '../support/eventually.ts';
import type { TestRepository } from '../support/repository.ts';
import { botId, mainPage, pagePath } from '../support/sample.ts';
import { originRemote, startTestService, type TestService } from '../support/service.ts';
import { type SharedRepository, sharedRepository } from '../support/shared-repository.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { issueTestTokens } from '../support/token.ts';

const page = mainPage({ website: null, edited: 1_700_000_000_000 });

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

  const withToken = (replica: Replica): Replica & { readonly token: string } => ({
    ...replica,
    token: replica.tokens.get(id) ?? '',
  });

  describe('that it fetches every second and pushes to at once', () => {
    let replica: Replica;
    before(async () => {
      replica = await startReplica();
    });

    it('shows what was merged there, work tree and index following', async () => {
      const { shared, clone, service } = withToken(replica);
      const commit = shared.mergePullRequest((person) => {
        person.write(homer, page.replace('The page.', 'A better page.'));
        person.write(newPage, mainPage({ name: 'Marge' }));
        person.write('README.md', 'Not a bot.');
      });
      await eventually(async () => {
        strictEqual((await record(service, newId))?.contents.en.name, 'Marge');
        match((await record(service, id))?.contents.en.page ?? '', /A better page/);
      });
      await eventually(() => strictEqual(clone.status(), ''));
      strictEqual(clone.read('README.md'), 'Not a bot.');
      clone.git('merge-base', '--is-ancestor', commit, 'HEAD');
      await eventually(() =>
        match(
          linesAbout(service, 'fast-forwarded').join(),
          /fast-forwarded to the remote's branch \(2 commits, 3 files\)/,
        ),
      );
    });

    it('has the settings in force that were merged there', async () => {
      const { shared, service } = replica;
      shared.mergePullRequest((person) => person.write('botshelf.json', '{ "name": "Merged" }\n'));
      await eventually(async () =>
        match(await (await fetch(service.address)).text(), /<title>Merged<\/title>/),
      );
    });

    it('pushes branch and state together', async () => {
      const { shared, clone, service, token } = withToken(replica);
      strictEqual((await post(service, id, token, { category: 'music', count: 5 })).status, 200);
      await eventually(() => {
        match(shared.git('show', `main:${homer}`), /"category": "music"/);
        match(stateOf(shared, id), new RegExp(`"${id}":\\{"count":5,`));
      });
      await eventually(() => strictEqual(shared.git('rev-parse', 'main'), clone.git('rev-parse', 'HEAD')));
      strictEqual(shared.git('for-each-ref', '--format=%(refname)'), 'refs/botshelf/state\nrefs/heads/main');
    });

    it('keeps uncommitted edits of a person in the clone', async () => {
      const { shared, clone, service, token } = withToken(replica);
      writeFileSync(join(clone.folder, homer), page.replace('doughnuts', 'beer'));
      shared.mergePullRequest((person) => person.write(homer, page.replace('"fun"', '"games"')));
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
        person.write(homer, page.replace('"Homer",', '"Homer"'));
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

    it('refuses a remote that has nothing in common with the clone, and one whose branch is gone', async () => {
      const { shared, clone, service } = withToken(replica);
      service.expectLog(/not in step with the remote: .*no commit in common/);
      service.expectLog(/not in step with the remote: .*no such branch any more/);
      clone.git('remote', 'set-url', 'origin', sharedRepository({ x: 'y' }).address);
      await eventually(async () => match((await remoteFaults(service))[0] ?? '', /no commit in common/));
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
      shared.mergePullRequest((person) => person.write(homer, page.replace('"fun"', '"games"')));
      await eventually(async () => match((await remoteFaults(service))[0] ?? '', /in progress in the clone/));
      strictEqual((await record(service, id))?.category, 'fun');
      rmSync(mark);
      await eventually(async () => strictEqual((await record(service, id))?.category, 'games'));
    });

    it('sets edited of a bot that a pull request changed without raising it, to the time of the merge', async () => {
      const { shared, clone, service } = withToken(replica);
      const commit = shared.mergePullRequest((person) => {
        person.write(homer, page.replace('"fun"', '"games"'));
        person.write(newPage, mainPage({ name: 'Marge' }));
      });
      const time = Number(shared.git('log', '-1', '--format=%ct', commit)) * 1000;
      await eventually(async () => strictEqual((await record(service, id))?.edited, time));
      strictEqual((await record(service, newId))?.edited, 1_700_000_000_000, 'edited of a new bot stays');
      await eventually(() => match(shared.git('show', `main:${homer}`), new RegExp(`"edited": ${time}`)));
      const tip = shared.git('rev-parse', 'main');
      strictEqual(clone.git('log', '-1', '--format=%s', tip), `Update Homer (${id}): edited`);
      shared.mergePullRequest((person) =>
        person.write(homer, person.read(homer).replace(String(time), String(time + 12_345))),
      );
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
      strictEqual(clone.git('rev-parse', 'refs/botshelf/remote/before-rewrite'), before);
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
          page
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

    it('takes in what it is fetching when it is stopped, and pushes what it has not pushed yet', async () => {
      const { shared, clone, service, token } = withToken(replica);
      strictEqual((await post(service, id, token, { category: 'music' })).status, 200);
      const begun = join(tempFolder(), 'begun');
      const slowly = join(tempFolder(), 'upload-pack');
      writeFileSync(slowly, `#!/bin/sh\ntouch ${begun}\nsleep 0.5\nexec git-upload-pack "$@"\n`, {
        mode: 0o755,
      });
      clone.git('config', 'remote.origin.uploadpack', slowly);
      shared.mergePullRequest((person) => person.write(newPage, mainPage({ name: 'Marge' })));
      await eventually(() => existsSync(begun));
      strictEqual(await service.end('SIGTERM'), 0);
      match(shared.git('show', `main:${homer}`), /music/);
      match(shared.git('show', `main:${newPage}`), /Marge/);
    });
  });

  it('takes the later of two posts for one key on two services, whichever of them reaches the remote first', async () => {
    const { shared, clone, service, token } = withToken(
      await startReplica({ BOTSHELF_SYNC_SECONDS: '3600' }),
    );
    const other = shared.clone();
    const env = { ...originRemote, BOTSHELF_SYNC_SECONDS: '3600' };
    const second = await startTestService({}, { root: other.folder, env });
    service.expectLog(/not in step with the remote: .*gone/);
    await eventually(() => {
      other.git('rev-parse', 'refs/botshelf/remote/stamped', 'refs/botshelf/state');
    });
    const posted = async (where: TestService, name: string): Promise<void> => {
      const { status, text } = await post(where, id, token, { website: `https://${name}.example/` });
      strictEqual(status, 200, text);
    };
    const arrives = async (name: string): Promise<void> =>
      await eventually(() => match(shared.git('show', `main:${homer}`), new RegExp(`${name}\\.example`)));

    await posted(service, 'first');
    await arrives('first');
    await posted(second, 'second');
    await arrives('second');
    const merge = shared.git('log', '-1', '--merges', '--format=%B', 'main');
    match(
      merge,
      new RegExp(`Set aside of the remote, as a later post changed the same:\n- "${homer}": website`),
    );

    clone.git('remote', 'set-url', 'origin', `${shared.address}.gone`);
    await posted(service, 'third');
    await eventually(async () => strictEqual((await remoteFaults(service)).length, 1));
    await posted(second, 'fourth');
    await arrives('fourth');
    clone.git('remote', 'set-url', 'origin', shared.address);
    await eventually(async () => {
      strictEqual((await record(service, id))?.website, 'https://fourth.example/');
      strictEqual(shared.git('rev-parse', 'main'), clone.git('rev-parse', 'HEAD'));
    });
    match(shared.git('log', '-1', '--format=%B', 'main'), /Set aside, as a later post changed the same:\n/);

    shared.mergePullRequest((person) =>
      person.write(homer, person.read(homer).replace('fourth.example', 'reviewed.example')),
    );
    second.expectLog(setAside);
    await posted(second, 'fifth');
    await eventually(() =>
      match(shared.git('log', '-1', '--format=%B', 'main'), /as people changed the same:/),
    );
    match(shared.git('show', `main:${homer}`), /reviewed\.example/);
  });

  it('answers, where it has to, only once the remote has the change', async () => {
    const { shared, service, token } = withToken(await startReplica({ BOTSHELF_ACK: 'remote' }));
    for (const [n, values] of [
      { category: 'music' },
      { count: 9 },
      { category: 'games', count: 10 },
    ].entries()) {
      strictEqual((await post(service, id, token, values)).status, 200);
      if (n !== 1) match(shared.git('show', `main:${homer}`), n === 0 ? /music/ : /games/);
      if (n > 0) match(stateOf(shared, id), n === 1 ? /"count":9,/ : /"count":10,/);
    }
  });

  it('answers 202 for a change that the remote can not have yet, at once where it is known to be away', async () => {
    const { shared, clone, service, token } = withToken(
      await startReplica({
        BOTSHELF_ACK: 'remote',
        BOTSHELF_PUSH_SECONDS: '3600',
      }),
    );
    service.expectLog(/not in step with the remote: .*gone/);
    clone.git('remote', 'set-url', 'origin', `${shared.address}.gone`);
    for (const values of [{ category: 'music' }, { count: 12 }, { category: 'games', count: 13 }]) {
      const answer = await post(service, id, token, values);
      strictEqual(answer.status, 202);
      deepStrictEqual(answer.json.bot, values);
      match(answer.json.note, /is saved.* do not send it again/);
      await eventually(async () => strictEqual((await remoteFaults(service)).length, 1));
    }
    clone.git('remote', 'set-url', 'origin', shared.address);
    await eventually(async () => strictEqual((await remoteFaults(service)).length, 0));
  });

  it('says for as long as the remote refuses the push that it does, since when and in its words, and logs it once', async () => {
    const { shared, service, token } = withToken(await startReplica({ BOTSHELF_PUSH_SECONDS: '2' }));
    service.expectLog(/not in step with the remote: the remote says: error: GH006/);
    const hook = join(shared.folder, 'hooks/pre-receive');
    const words = 'error: GH006: Protected branch update failed for refs/heads/main.';
    writeFileSync(hook, `#!/bin/sh\necho "${words}" >&2\necho "at $(date +%N)" >&2\nexit 1\n`, {
      mode: 0o755,
    });
    strictEqual((await post(service, id, token, { category: 'music', count: 5 })).status, 200);
    await eventually(async () => strictEqual((await remoteFaults(service)).length, 1));
    const since = await faultSince(service);
    for (let age = 0; age < 4; age = await metric(service, 'botshelf_remote_fault_age_seconds')) {
      const [fault = ''] = await remoteFaults(service);
      match(
        fault,
        /the remote says: error: GH006: Protected branch update failed for refs\/heads\/main\. at \d+; /,
      );
      match(fault, /git says: .*main is refused \(pre-receive hook declined\)/);
      strictEqual(await faultSince(service), since);
      ok((await metric(service, 'botshelf_commits_unpushed')) > 0);
      await rest(50);
    }
    strictEqual(linesAbout(service, 'not in step with the remote').length, 1);
    rmSync(hook);
    await eventually(async () => strictEqual((await remoteFaults(service)).length, 0));
    match(shared.git('show', `main:${homer}`), /music/);
    strictEqual(await metric(service, 'botshelf_remote_fault_age_seconds'), 0);
    await eventually(async () => strictEqual(await metric(service, 'botshelf_commits_unpushed'), 0));
    strictEqual(linesAbout(service, 'in step with the remote again').length, 1);
  });
});

interface Replica {
  readonly shared: SharedRepository;
  readonly clone: TestRepository;
  readonly service: TestService;
  /** Bot → its token. */
  readonly tokens: ReadonlyMap<string, string>;
}

/** Starts a service on a clone of a repository with bots from 312 on. */
async function startReplica(more: Readonly<Record<string, string>> = {}): Promise<Replica> {
  const ids = Array.from({ length: 20 }, (_, i) => String(312 + i));
  const shared = sharedRepository(Object.fromEntries(ids.map((id) => [pagePath(id), page])));
  const clone = shared.clone();
  const tokens = await issueTestTokens(clone.folder, ids);
  const env = { ...originRemote, BOTSHELF_STATE_SECONDS: '1', ...more };
  const service = await startTestService({}, { root: clone.folder, env });
  await eventually(() => clone.git('rev-parse', 'refs/botshelf/remote/stamped'));
  return { shared, clone, service, tokens };
}

// oxlint-disable-next-line typescript/no-explicit-any -- a record, looked into
async function record(service: TestService, id: string): Promise<any> {
  const { status, json } = await service.request(`/api/v2/bots/${id}`);
  return status === 200 ? json : undefined;
}

async function post(
  service: TestService,
  id: string,
  token: string,
  bot: object,
): ReturnType<TestService['request']> {
  return await service.request(`/api/v2/bots/${id}`, {
    method: 'POST',
    headers: { authorization: token, 'content-type': 'application/json' },
    body: JSON.stringify({ bot }),
  });
}

async function remoteFaults(service: TestService): Promise<string[]> {
  return (await service.request('/readyz')).json.parts.remote.faults;
}

async function faultSince(service: TestService): Promise<string | undefined> {
  return /since (\S+):/.exec((await remoteFaults(service))[0] ?? '')?.[1];
}

async function metric({ address }: TestService, name: string): Promise<number> {
  const metrics = await (await fetch(`${address}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1]);
}

function linesAbout(service: TestService, words: string): string[] {
  return service
    .log()
    .split('\n')
    .filter((line) => line.includes(words));
}

const setAside = /set aside \\"website\\" from this clone in .*, as people changed the same/;

function stateOf(shared: SharedRepository, id: string): string {
  return shared.git('show', `refs/botshelf/state:${shardPath(shardNumber(botId(id)))}`);
}
