import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import { pagePath } from '../../support/sample.ts';
import { type LocalService } from '../../support/service.ts';
import { linesAbout, metric, remoteFaults, startReplica, stateOf } from '../../support/replica.ts';
import { issueTestTokens, updateRequest } from '../../support/token.ts';

const id = '312';
const homer = pagePath(id);

const later = { BOTSHELF_ACK: 'remote', BOTSHELF_PUSH_SECONDS: '3600' };

describe('a service with a remote that owners post to', () => {
  it('responds, where it is set up so, only once the remote has the change', async () => {
    const { shared, service, tokens } = await startReplica({ BOTSHELF_ACK: 'remote' });
    const token = tokens.get(id) ?? '';
    for (const [n, bot] of [{ category: 'music' }, { count: 9 }, { category: 'news', count: 10 }].entries()) {
      strictEqual((await service.post(id, token, bot)).status, 200);
      if (n !== 1) match(shared.git('show', `main:${homer}`), n === 0 ? /music/ : /news/);
      if (n > 0) match(stateOf(shared, id), n === 1 ? /"count":9,/ : /"count":10,/);
    }
  });

  it('responds 202 for a change that the remote cannot have yet, at once where it is known to be away', async () => {
    const { shared, clone, service, tokens } = await startReplica(later);
    const token = tokens.get(id) ?? '';
    service.expectLog(/not in step with the remote: .*gone/);
    clone.git('remote', 'set-url', 'origin', `${shared.address}.gone`);
    for (const values of [{ category: 'music' }, { count: 12 }, { category: 'games', count: 13 }]) {
      const answer = await service.post(id, token, values);
      strictEqual(answer.status, 202);
      deepStrictEqual(answer.json.bot, values);
      match(answer.json.note, /is saved.* do not send it again/);
      await eventually(async () => strictEqual((await remoteFaults(service)).length, 1));
    }
    clone.git('remote', 'set-url', 'origin', shared.address);
    await eventually(async () => strictEqual((await remoteFaults(service)).length, 0));
  });

  it('responds 202 before clients give up where the next push comes later @slow', async () => {
    const { service, tokens } = await startReplica(later);
    // One of them comes after a push.
    for (const count of [1, 2]) {
      const init = { ...updateRequest(tokens.get(id) ?? '', { count }), signal: AbortSignal.timeout(30_000) };
      const answer = await service.request(`/api/v2/bots/${id}`, init);
      ok(count === 1 || answer.status === 202, answer.text);
    }
  });

  it('pushes all that it has when it stops, merged with what another has pushed since it last fetched', async () => {
    const { shared, service, tokens } = await startReplica({
      BOTSHELF_PUSH_SECONDS: '3600',
      BOTSHELF_SYNC_SECONDS: '3600',
    });
    const other = shared.clone();
    await issueTestTokens(other.folder, ['331']);
    other.git('push', '-q', 'origin', '+refs/botshelf/state:refs/botshelf/state');
    const theirs = other.git('rev-parse', 'refs/botshelf/state');
    const values = { count: 77, category: 'music' };
    strictEqual((await service.post(id, tokens.get(id) ?? '', values)).status, 200);
    const merged = shared.mergePullRequest((person) => person.write('README.md', 'x'));
    await service.stop();
    match(stateOf(shared, id), /"count":77\b/);
    match(shared.git('show', `main:${homer}`), /"category": "music"/);
    match(shared.git('log', '--format=%H', 'main'), new RegExp(merged));
    match(shared.git('log', '--format=%H', 'refs/botshelf/state'), new RegExp(theirs));
  });

  it('says for as long as the remote refuses the push that it does, since when and in its words, and logs it once @long', async () => {
    const { shared, service, tokens } = await startReplica({ BOTSHELF_PUSH_SECONDS: '2' });
    const token = tokens.get(id) ?? '';
    service.expectLog(/not in step with the remote: the remote says: error: GH006/);
    const hook = join(shared.folder, 'hooks/pre-receive');
    const words = 'error: GH006: Protected branch update failed for refs/heads/main.';
    const script = `#!/bin/sh\necho "${words}" >&2\necho "at $(date +%N)" >&2\nexit 1\n`;
    writeFileSync(hook, script, { mode: 0o755 });
    strictEqual((await service.post(id, token, { category: 'music', count: 5 })).status, 200);
    await eventually(async () => strictEqual((await remoteFaults(service)).length, 1));
    const since = await faultSince(service);
    for (let age = 0; age < 4; age = await metric(service, 'botshelf_remote_fault_age_seconds')) {
      const [fault = ''] = await remoteFaults(service);
      match(fault, /the remote says: error: GH006: .* for refs\/heads\/main\. at \d+; /);
      match(fault, /git says: .*main is refused \(pre-receive hook declined\)/);
      strictEqual(await faultSince(service), since);
      ok((await metric(service, 'botshelf_commits_unpushed')) > 0);
      await rest(500);
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

async function faultSince(service: LocalService): Promise<string | undefined> {
  return /since (\S+):/.exec((await remoteFaults(service))[0] ?? '')?.[1];
}
