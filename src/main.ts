#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { addServe } from './commands/serve.ts';
import { ConfigError } from './config.ts';
import { StartFault } from './service.ts';

const { version } = JSON.parse(readFileSync(fileURLToPath(import.meta.resolve('#package')), 'utf8')) as {
  version: string;
};

const program = new Command('botshelf')
  .description('A flat-file, Git-backed listing service for chat-platform bots.')
  .version(version)
  .exitOverride((error) => {
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  });
addServe(program);

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof ConfigError || error instanceof StartFault)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
