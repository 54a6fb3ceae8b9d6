import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/* `npm run simulate -- --seed N --minutes M` */
const { values } = parseArgs({
  options: { seed: { type: 'string' }, minutes: { type: 'string', default: '2' } },
});
const { seed = String(Math.floor(Math.random() * 1e6)), minutes } = values;
const file = fileURLToPath(new URL('simulation.test.js', import.meta.url));
const args = ['mocha', '--enable-source-maps', file];
const env = { ...process.env, SIMULATE_SEED: seed, SIMULATE_MINUTES: minutes };
process.exitCode = spawnSync('npx', args, { stdio: 'inherit', env }).status ?? 1;
