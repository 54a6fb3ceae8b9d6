import { join } from 'node:path';
import { nothingBlocked } from '../src/catalogue/settings/blocked.ts';
import { toSettings } from '../src/catalogue/settings/settings.ts';
import { Committer } from '../src/git/commit/committer.ts';
import { RepositoryOpener } from '../src/git/repository.ts';
import { silentLog } from '../src/lib/log.ts';
import { type Decision, Proposals, type SentProposal } from '../src/proposals/proposals.ts';
import { accountId, botId, mainPage, pagePath } from '../test/support/sample.ts';

/** Proposals in this process; disposing of them ends their git. */
export interface OpenProposals extends AsyncDisposable {
  readonly proposals: Proposals;
}

/** Opens the proposals of a catalogue. They are not loaded. */
export function openProposals(catalogue: string): OpenProposals {
  const repositoryOpener = new RepositoryOpener(catalogue);
  const editor = { edit: (text: string | null) => text ?? '', describe: () => '' };
  const committer = new Committer({
    repositoryOpener,
    var: join(catalogue, 'var'),
    editor,
    log: silentLog,
  });
  const proposals = new Proposals({
    repositoryOpener,
    committer,
    settings: async () => await Promise.resolve({ ...toSettings(), maintainers: [maintainer.id] }),
    blocked: () => nothingBlocked,
    needsMaintainer: true,
    log: silentLog,
  });
  const close = async (): Promise<void> => {
    await committer.close();
    repositoryOpener.close();
  };
  return { proposals, [Symbol.asyncDispose]: close };
}

/** A proposal of the account `number` to add the bot of that number. */
export function newBot(number: number): SentProposal {
  const id = String(number);
  const pages = new Map([[pagePath(id), pageOf(number)]]);
  return { subject: botId(id), proposer: { id: accountId(id), name: 'Ned' }, pages, note: 'Try it.' };
}

/** The file of the bot that `newBot` proposes. */
export function pageOf(number: number): string {
  const page = `# Bot ${number}\n\n${'A sentence about the bot. '.repeat(80)}\n`;
  return mainPage({ name: `Bot ${number}`, authors: [String(number)] }, page);
}

/** A decision about a version. */
export function decide(state: Decision['state'], version: string): Decision {
  return { state, reviewer: maintainer, version, reason: null, text: '' };
}

const maintainer = { id: accountId('42'), name: 'Marge' };
