import { nothingBlocked } from '../../src/catalogue/settings/blocked.ts';
import { readSettings, createDiskReader } from '../../src/catalogue/settings/read-settings.ts';
import type { CatalogueSettings } from '../../src/catalogue/settings/settings.ts';
import type { Log } from '../../src/lib/log.ts';
import { silentLog } from '../../src/lib/log.ts';
import { RepositoryOpener } from '../../src/git/repository.ts';
import type { Person } from '../../src/proposals/proposal.ts';
import { Proposals } from '../../src/proposals/proposals.ts';
import { committerOn } from './committing.ts';
import { accountId } from './sample.ts';

/** An author of the sample page, a person without a bot, and the maintainer of `proposalSettings`. */
export const author: Person = { id: accountId('190519304972664832'), name: 'Homer Simpson' };
export const visitor: Person = { id: accountId('7'), name: 'Ned' };
export const maintainer: Person = { id: accountId('42'), name: 'Marge' };

/** `botshelf.json` of a catalogue with a maintainer. */
export const proposalSettings = JSON.stringify({ maintainers: [maintainer.id] });

/** The proposals of a catalogue's folder, loaded, with a committer of their own. */
export async function openProposals(folder: string, log: Log = silentLog): Promise<Proposals> {
  const repositoryOpener = new RepositoryOpener(folder);
  const proposals = new Proposals({
    repositoryOpener,
    committer: committerOn(folder),
    settings: async () => await readSettingsOf(folder),
    blocked: () => nothingBlocked,
    needsMaintainer: true,
    log,
  });
  await proposals.load();
  await proposals.closeAccepted();
  closing.push(repositoryOpener);
  return proposals;
}

async function readSettingsOf(folder: string): Promise<CatalogueSettings | undefined> {
  const { settings } = await readSettings(createDiskReader(folder));
  return settings;
}

const closing: RepositoryOpener[] = [];

after('close the repositories of proposals', () => {
  for (const opener of closing.splice(0)) opener.close();
});
