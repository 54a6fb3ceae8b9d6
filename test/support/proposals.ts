import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nothingBlocked } from '../../src/catalogue/settings/blocked.ts';
import { readSettings, type CatalogueSettings } from '../../src/catalogue/settings/settings.ts';
import { createDiskReader } from '../../src/catalogue/page/page-file.ts';
import { silentLog } from '../../src/lib/log.ts';
import {
  formatOpenRef,
  formatStep,
  type Person,
  type ProposalStep,
  type Subject,
} from '../../src/proposals/proposal.ts';
import { Proposals, type ProposalsOptions } from '../../src/proposals/proposals.ts';
import { committerOn } from './committing.ts';
import { openerOf } from './opened.ts';
import { fastImport, formatCommit, type TestRepository } from './repository.ts';
import { accountId, botId, pagePath } from './sample.ts';

/** An author of the sample page, a person without a bot, and the maintainer of `proposalSettings`. */
export const author: Person = { id: accountId('190519304972664832'), name: 'Homer Simpson' };
export const visitor: Person = { id: accountId('7'), name: 'Ned' };
export const maintainer: Person = { id: accountId('42'), name: 'Marge' };

/** A step of a proposal of Homer, on no commit of the branch. */
export const sentStep: ProposalStep = {
  subject: botId('190519304972663312'),
  proposer: author,
  state: 'waiting',
  base: '0'.repeat(40),
  sentAt: Date.now(),
  reviewer: null,
  reason: null,
  commit: null,
  text: '',
};

/** `botshelf.json` of a catalogue with a maintainer. */
export const proposalSettings = JSON.stringify({ maintainers: [maintainer.id] });

/** The proposals of a catalogue's folder, loaded, with a committer of their own. */
export async function openProposals(
  folder: string,
  options: Partial<ProposalsOptions> = {},
): Promise<Proposals> {
  const repositoryOpener = openerOf(folder);
  const proposals = new Proposals({
    repositoryOpener,
    committer: committerOn(folder, { repositoryOpener }),
    settings: async () => await readSettingsOf(folder),
    blocked: () => nothingBlocked,
    needsMaintainer: true,
    log: silentLog,
    ...options,
  });
  await proposals.load();
  await proposals.closeAccepted();
  return proposals;
}

/** Makes proposals as if they had been sent, in a repository without packed refs: ref → steps. */
export function importProposals(
  folder: string,
  proposals: ReadonlyMap<string, readonly ProposalStep[]>,
): void {
  const toCommit = (step: ProposalStep): string =>
    formatCommit('refs/imported', { files: {}, message: formatStep(step) });
  const input = [...proposals.values()].map(
    (steps) => `reset refs/imported\n\n${steps.map(toCommit).join('')}get-mark :1\n`,
  );
  const lines = fastImport(folder, input.join('')).split('\n');
  // Git takes seconds to make thousands of refs.
  const refs = [...proposals.keys()].map((ref, i) => `${lines[i]} ${ref}\n`);
  writeFileSync(join(folder, '.git/packed-refs'), refs.join(''));
}

/** Makes a proposal whose page is missing in the repository. */
export function commitUnreadable(repo: TestRepository, subject: Subject, proposer: Person): void {
  repo.git('update-index', '--add', '--cacheinfo', `100644,${'7'.repeat(40)},${pagePath(subject)}`);
  const tree = repo.git('write-tree', '--missing-ok');
  repo.git('update-index', '--force-remove', pagePath(subject));
  const message = formatStep({ ...sentStep, subject, proposer });
  repo.git('update-ref', formatOpenRef(subject, proposer.id), repo.git('commit-tree', tree, '-m', message));
}

async function readSettingsOf(folder: string): Promise<CatalogueSettings | undefined> {
  const { settings } = await readSettings(createDiskReader(folder));
  return settings;
}
