import { createServer } from 'node:http';
import { join } from 'node:path';
import { nothingBlocked } from '../../src/catalogue/settings/blocked.ts';
import { readSettings } from '../../src/catalogue/settings/settings.ts';
import { createDiskReader } from '../../src/catalogue/page/page-file.ts';
import { Committer } from '../../src/git/branch/committer.ts';
import { RepositoryOpener } from '../../src/git/repository.ts';
import { messageOf } from '../../src/lib/errors.ts';
import { createLog, silentLog } from '../../src/lib/log.ts';
import { Proposals } from '../../src/proposals/proposals.ts';
import { keyEditor } from '../support/keys.ts';
import { accountId, botId, mainPage, pagePath } from '../support/sample.ts';
import { accountOf } from './proposal-aftermath.ts';

/**
 * A process that a test kills or traces. `POST /sent/7` proposes to add the bot 7 as the account 97, `/accepted/7`, `/declined/7` and
 * `/withdrawn/7` end that, and `/taken-back/7` opens it again; the response is the number and the step, as JSON. `GET /7` has
 * the states of its proposals.
 */
const [folder = ''] = process.argv.slice(2);
const repositoryOpener = new RepositoryOpener(folder);
const committer = new Committer({
  repositoryOpener,
  var: join(folder, 'var'),
  editor: keyEditor,
  log: silentLog,
});
const proposals = new Proposals({
  repositoryOpener,
  committer,
  settings: async () => (await readSettings(createDiskReader(folder))).settings,
  blocked: () => nothingBlocked,
  needsMaintainer: true,
  log: silentLog,
});
await committer.recover();
await proposals.load();
await proposals.closeAccepted();

async function take(what: string, number: string): Promise<void> {
  const bot = botId(number);
  const account = accountOf(number);
  const reviewer = { id: accountId('42'), name: 'Marge' };
  const [{ version } = { version: '' }] = proposals.list.listOf(account);
  if (what === 'sent') {
    const pages = new Map([[pagePath(number), mainPage({ authors: [number] })]]);
    await proposals.send({ subject: bot, proposer: { id: account, name: 'Ned' }, pages, note: '' });
  } else if (what === 'withdrawn') await proposals.withdraw(bot, account, version);
  else if (what === 'accepted' || what === 'declined')
    await proposals.decide(bot, account, { state: what, reviewer, version, reason: null, text: '' });
  else await proposals.takeBack(bot, account, version, reviewer);
}

const log = await createLog({ level: 'info', format: 'json' });
const server = createServer((request, response) => {
  const [, what = '', number = what] = (request.url ?? '').split('/');
  const work = request.method === 'POST' ? take(what, number) : Promise.resolve();
  work.then(
    () => {
      const states = proposals.list.listOf(accountOf(number)).map(({ state }) => state);
      response.end(JSON.stringify({ number, what, states }));
    },
    (error: unknown) => response.writeHead(409).end(messageOf(error)),
  );
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object')
    log.info({}, `ready at http://127.0.0.1:${address.port}`);
});
process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
  void committer.close().then(() => repositoryOpener.close());
});
