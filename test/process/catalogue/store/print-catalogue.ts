import { Catalogue } from '../../../../src/catalogue/catalogue.ts';
import { silentLog } from '../../../../src/lib/log.ts';

// Opens the catalogue of the folder named first and prints what it serves and the fault of its watcher, whenever that is
// new, for as long as standard input is open.
const [, , root = '', roundSeconds = '60'] = process.argv;
const catalogue = new Catalogue({ root, log: silentLog, snapshot: null, roundSeconds: Number(roundSeconds) });
await catalogue.load();
let last = '';
setInterval(() => {
  const names = catalogue.store.bots.all().map(({ facts }) => facts.name);
  const line = JSON.stringify({ names, watcherFault: catalogue.bots.watcherFault });
  if (line !== last) process.stdout.write(`${line}\n`);
  last = line;
}, 10);
process.stdin.resume().on('end', () => process.exit());
