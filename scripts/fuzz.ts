import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/*
 * npm run fuzz -- [target] [--minutes M] [--save]
 *
 * Fuzzes a target, or one after the other, for ten minutes each. An input that shows something wrong is added to the
 * target's file in test/fuzz/corpus/, shortened. With --save the file also gets the inputs that together reach all that
 * was reached.
 */
const { values, positionals } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, save: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const corpus = fileURLToPath(new URL('./test/fuzz/corpus', import.meta.resolve('#package')));
const names = readdirSync(corpus).map((name) => name.replace(/\.ndjson$/, ''));
for (const name of positionals)
  if (!names.includes(name)) throw new Error(`there is no target ${name}: choose ${names.join(', ')}`);

for (const name of positionals.length > 0 ? positionals : names) {
  // Each in a process of its own, so that it counts what only it reaches.
  const mocha = ['--enable-source-maps', fileURLToPath(import.meta.resolve('mocha/bin/mocha.js'))];
  const args = ['--grep', ` harm to ${name}:`, 'dist/test/verify/fuzz.test.js'];
  const env = { ...process.env, FUZZ_MINUTES: values.minutes, ...(values.save && { FUZZ_SAVE: 'yes' }) };
  const [code] = (await once(
    spawn(process.execPath, [...mocha, ...args], { env, stdio: 'inherit' }),
    'close',
  )) as [number];
  if (code !== 0) process.exitCode = 1;
}
