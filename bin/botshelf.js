#!/bin/sh
//bin/true; exec node -- "$0" "$@" # Without the dashes Node reads the file of --env-file too, and a pipe is empty then.
import './check-node.js';
import { existsSync } from 'node:fs';

// The command of this package, which npx finds in a clone before anything is built.
const main = new URL('../dist/src/main.js', import.meta.url);
if (existsSync(main)) {
  await import(main.href);
} else {
  process.stderr.write('botshelf is not built yet: run "npm ci && npm run build" in its folder first\n');
  process.exitCode = 2;
}
