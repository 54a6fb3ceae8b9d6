import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { proposalMachine } from '../../support/proposal-machines.ts';
import { author, maintainer, proposalSettings } from '../../support/proposals.ts';
import {
  linesAbout,
  post,
  remoteFaults,
  type Replica,
  replicaPage,
  startReplica,
  withProposals,
} from '../../support/replica.ts';
import { botId, pagePath } from '../../support/sample.ts';

describe('a service whose remote has proposals', () => {
  const [first, second] = [botId('312'), botId('313')];
  let replica: Replica;
  before(async () => {
    replica = await startReplica(withProposals);
    replica.shared.mergePullRequest((person) => person.write('botshelf.json', proposalSettings));
  });

  it('has them within a round, and their end too', async () => {
    const { shared, clone, service } = replica;
    const { proposals, round } = await proposalMachine(shared);
    await round();
    const pages = new Map([[pagePath(first), replicaPage.replace('The page.', 'A better page.')]]);
    const sent = { subject: first, proposer: author, pages, note: '' };
    const { proposal } = await proposals.send(sent);
    await eventually(() => strictEqual(clone.git('rev-parse', proposal.ref), proposal.version));
    const decision = { reviewer: maintainer, version: proposal.version, reason: null, text: '' };
    const { proposal: closed } = await proposals.decide(first, author.id, { ...decision, state: 'accepted' });
    await eventually(() => strictEqual(clone.git('rev-parse', closed.ref), closed.version));
    await eventually(() => strictEqual(clone.git('for-each-ref', proposal.ref), ''));
    await round();
    await eventually(() => clone.git('merge-base', '--is-ancestor', closed.commit ?? '', 'main'));
    deepStrictEqual(await remoteFaults(service), []);
  });

  it('pushes its branch although the remote refuses the proposals, names that once, and pushes them later @long', async () => {
    const { shared, clone, service, tokens } = replica;
    service.expectLog(/proposals are not shared with the other machines: the remote says: no proposals/);
    const hook = join(shared.folder, 'hooks/update');
    const script = '#!/bin/sh\ncase "$1" in refs/botshelf/[cp]*) echo no proposals; exit 1;; esac\n';
    writeFileSync(hook, script, { mode: 0o755 });
    const { proposals, clone: other } = await proposalMachine(shared);
    const pages = new Map([[pagePath(second), replicaPage.replace('The page.', 'A better page.')]]);
    const { proposal } = await proposals.send({ subject: second, proposer: author, pages, note: '' });
    const { ref, version } = proposal;
    clone.git('fetch', '-q', other.folder, `${ref}:${ref}`);
    await eventually(async () =>
      match((await remoteFaults(service)).join(), /^proposals are not shared .* since /),
    );
    const { status } = await post(service, second, tokens.get(second) ?? '', { category: 'music' });
    strictEqual(status, 200);
    await eventually(() => match(shared.git('show', `main:${pagePath(second)}`), /music/));
    strictEqual(linesAbout(service, 'proposals are not shared').length, 1);
    rmSync(hook);
    await eventually(() => strictEqual(shared.git('rev-parse', ref), version));
    await eventually(async () => deepStrictEqual(await remoteFaults(service), []));
  });
});
