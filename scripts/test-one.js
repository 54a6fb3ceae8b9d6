import { existsSync, readFileSync } from 'node:fs';
import Mocha from 'mocha';

/* Runs one file of tests without a build: `npm run test:one test/bot/id.test.ts`, and after it a part of a title. */
const [path = '', grep = ''] = process.argv.slice(2);
if (!existsSync(path)) {
  process.stderr.write(`there is no file "${path}": pass that of a test, such as test/bot/id.test.ts\n`);
  process.exit(1);
}
const { require: _require, ...options } = JSON.parse(readFileSync('.mocharc.json', 'utf8'));
const { mochaHooks } = await import('../dist/test/support/cleanup.js');
const mocha = new Mocha({ ...options, fgrep: grep, rootHooks: mochaHooks });
// Mocha imports a file of this ending, and requires others.
mocha.addFile(`dist/${path.replace(/\.tsx?$/, '.mjs')}`);
await mocha.loadFilesAsync();
mocha.run((failures) => {
  process.exitCode = failures > 0 ? 1 : 0;
});
