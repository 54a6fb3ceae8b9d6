import { renameSync } from 'node:fs';
import { silentLog } from '../../src/lib/log.ts';
import { SerialQueue } from '../../src/lib/serial-queue.ts';
import type { Proposals } from '../../src/proposals/proposals.ts';
import { SharedProposals } from '../../src/proposals/shared-proposals.ts';
import { integrate } from '../../src/sync/integration.ts';
import { listRefsToPush, pushRefs, fetchRemote, toBaseRef } from '../../src/sync/remote.ts';
import type { RemoteWork } from '../../src/sync/sync.ts';
import { committerOn } from './committing.ts';
import { openerOf } from './opened.ts';
import { openProposals } from './proposals.ts';
import type { TestRepository } from './repository.ts';
import type { SharedRepository } from './shared-repository.ts';

/** A machine with proposals, in this process, that is in step with a shared repository only when a test says so. */
export interface ProposalMachine {
  readonly clone: TestRepository;
  readonly proposals: Proposals;
  readonly shared: SharedProposals;
  /** Fetches, merges and pushes everything, as a round of the sync does. */
  round(): Promise<void>;
  /** All refs of its proposals, a line each with the commit. */
  refs(): string;
}

/** Makes a machine. @param logged gets the error lines of its log */
export async function proposalMachine(
  { address, clone: makeClone }: Pick<SharedRepository, 'address' | 'clone'>,
  logged: string[] = [],
): Promise<ProposalMachine> {
  const clone = makeClone();
  const repositoryOpener = openerOf(clone.folder);
  const committer = committerOn(clone.folder);
  const log = { ...silentLog, error: (_: object, line: string) => void logged.push(line) };
  const proposals = await openProposals(clone.folder, { repositoryOpener, committer, log });
  const queue = new SerialQueue();
  const works: RemoteWork[] = [];
  const { signal } = new AbortController();
  const run = async (work: RemoteWork): Promise<void> => {
    await queue.run(async () => {
      const repository = await repositoryOpener.open();
      await work({ repository, address, stallSeconds: 20, signal }, true);
    });
  };
  const shared = new SharedProposals(proposals, { run, addToRounds: (work) => void works.push(work) }, log);
  proposals.connect(shared);
  const round = async (): Promise<void> => {
    await run(async (remote) => {
      const { repository } = remote;
      const branch = { ...remote, branch: 'refs/heads/main', baseRef: toBaseRef(repository) };
      const tips = await fetchRemote(branch);
      await integrate(repository, tips.branch, branch, { committer, log: silentLog });
      for (const work of works) await work(remote, true);
      const refs = await listRefsToPush(branch);
      if (refs.length > 0) await pushRefs(branch, refs);
    });
    await proposals.closeAccepted();
  };
  const refs = (): string =>
    clone.git(
      'for-each-ref',
      '--format=%(refname) %(objectname)',
      'refs/botshelf/proposals',
      'refs/botshelf/closed',
    );
  return { clone, proposals, shared, round, refs };
}

/** Takes the shared repository from its place while `work` is done. */
export async function whileAway<T>({ folder }: SharedRepository, work: () => Promise<T>): Promise<T> {
  renameSync(folder, `${folder}.away`);
  try {
    return await work();
  } finally {
    renameSync(`${folder}.away`, folder);
  }
}
