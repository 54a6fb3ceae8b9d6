import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { checkRemote } from '../../../src/commands/doctor-network.ts';
import { doctorContext } from '../../support/doctor.ts';
import { eventually } from '../../support/eventually.ts';
import {
  post,
  record,
  remoteFaults,
  type Replica,
  replicaPage,
  startReplica,
  stateOf,
} from '../../support/replica.ts';
import { pagePath } from '../../support/sample.ts';
import { originRemote, startTestService } from '../../support/service.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const id = '312';
const homer = pagePath(id);

describe('a service whose Git host goes back', () => {
  let replica: Replica;
  let token: string;
  beforeEach(async () => {
    replica = await startReplica();
    token = replica.tokens.get(id) ?? '';
    await eventually(() => replica.shared.git('rev-parse', 'refs/botshelf/state'));
  });

  it('to a backup pushes all that the backup does not have, also if it only has counts to push', async () => {
    const { shared, clone, service } = replica;
    const backup = tempFolder();
    cpSync(shared.folder, backup, { recursive: true });
    await post(service, id, token, { category: 'music', count: 41 });
    shared.mergePullRequest((person) => person.write('blocked.json', '{ "hosts": { "example.com": {} } }\n'));
    await eventually(() => strictEqual(clone.git('rev-parse', 'main'), shared.git('rev-parse', 'main')));
    await eventually(() => match(stateOf(shared, id), /"count":41,/));
    const tip = shared.git('rev-parse', 'main');
    service.expectLog(/the remote has lost commits, .*: pushing \d commits again/);
    service.allowLog(/not in step with the remote/);
    rmSync(shared.folder, { recursive: true });
    cpSync(backup, shared.folder, { recursive: true });
    await post(service, id, token, { count: 42 });
    await eventually(() => {
      strictEqual(shared.git('rev-parse', 'main'), tip);
      match(stateOf(shared, id), /"count":42,/);
    });
    strictEqual((await record(service, id))?.category, 'music');
    await eventually(async () => deepStrictEqual(await remoteFaults(service), []));
  });

  it('after its branch was missing pushes what it lost, also after a restart', async () => {
    const { shared, clone, service } = replica;
    const old = shared.git('rev-parse', 'main');
    await post(service, id, token, { category: 'music' });
    await eventually(() => match(shared.git('show', `main:${homer}`), /music/));
    const tip = clone.git('rev-parse', 'main');
    service.expectLog(/no such branch any more/);
    shared.git('update-ref', '-d', 'refs/heads/main');
    await eventually(async () => match((await remoteFaults(service))[0] ?? '', /no such branch any more/));
    await service.stop();
    shared.git('update-ref', 'refs/heads/main', old);
    const next = await startTestService({}, { root: clone.folder, env: originRemote });
    next.expectLog(/the remote has lost commits, .*: pushing 1 commit again/);
    await eventually(() => strictEqual(shared.git('rev-parse', 'main'), tip));
  });

  it('because a person pushed with force follows, and names what was removed until it is back', async () => {
    const { shared, clone, service } = replica;
    await post(service, id, token, { category: 'music' });
    await eventually(() => match(shared.git('show', `main:${homer}`), /music/));
    service.expectLog(/the remote's branch was rewritten: .* has 1 commit and changes of 1 bot/);
    shared.maintainer.git('push', '-q', '--force', 'origin', 'main~0:main');
    await eventually(async () => strictEqual((await record(service, id))?.category, 'fun'));
    await eventually(async () =>
      match((await remoteFaults(service))[0] ?? '', /1 commit and changes of 1 bot/),
    );
    const { state, reason, fix } = await checkRemote(doctorContext(clone.folder, originRemote));
    strictEqual(state, 'warning');
    match(reason, /1 commit and changes of 1 bot/);
    const [, from = '', to = ''] = /"git push origin (\S+):(\S+)"/.exec(fix ?? '') ?? [];
    clone.git('push', '-q', 'origin', `${from}:${to}`);
    shared.mergePullRequest((person) => person.git('merge', '-q', to.replace('refs/heads', 'origin')));
    await eventually(async () => strictEqual((await record(service, id))?.category, 'music'));
    await eventually(async () => deepStrictEqual(await remoteFaults(service), []));
    shared.git('config', 'gc.cruftPacks', 'true');
    strictEqual((await checkRemote(doctorContext(clone.folder, originRemote))).state, 'ok');
  });
});

describe('a clone that was made before a force push', () => {
  it('brings back nothing that was removed when its service starts for the first time', async () => {
    const { shared, clone, service } = await startReplica();
    shared.mergePullRequest((person) => person.write(pagePath('399'), replicaPage));
    await eventually(() => strictEqual(clone.git('rev-parse', 'main'), shared.git('rev-parse', 'main')));
    const late = shared.clone();
    const { maintainer } = shared;
    maintainer.git('reset', '-q', '--hard', 'main~1');
    const tip = maintainer.commit({ 'README.md': 'Without it' });
    maintainer.git('push', '-q', '--force', 'origin', 'main');
    service.expectLog(/the remote's branch was rewritten/);
    await eventually(() => strictEqual(clone.git('rev-parse', 'main'), tip));
    const second = await startTestService({}, { root: late.folder, env: originRemote });
    second.expectLog(/the remote's branch was rewritten/);
    await eventually(() =>
      strictEqual(late.git('rev-parse', 'refs/botshelf/remote/base-main', 'main'), `${tip}\n${tip}`),
    );
    await second.stop();
    strictEqual(shared.git('rev-parse', 'main'), tip);
  });
});
