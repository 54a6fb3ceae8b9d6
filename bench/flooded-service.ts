import { readConfig } from '../src/app/config.ts';
import { startService } from '../src/app/service.ts';
import { createLog } from '../src/lib/log.ts';
import { newBot, openProposals } from './open-proposals.ts';

/**
 * The service, with proposals in the same process: on SIGUSR2 people begin to send and withdraw them, each as fast as it
 * goes, and at the next SIGUSR2 they end.
 */
const config = readConfig();
const { proposals } = openProposals(config.catalogue);
await proposals.load();
await startService(config, await createLog(config.log));
const flood = { isOn: false };
let number = 8_000_000;

async function sendAndWithdraw(): Promise<void> {
  while (flood.isOn) {
    const sent = newBot(++number);
    const { proposal } = await proposals.send(sent);
    await proposals.withdraw(sent.subject, sent.proposer.id, proposal.version);
  }
}

process.on('SIGUSR2', () => {
  flood.isOn = !flood.isOn;
  if (flood.isOn) for (let person = 0; person < 16; person++) void sendAndWithdraw();
});
