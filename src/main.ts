#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { addCommands } from './commands/add-commands.ts';
import { colour } from './commands/output.ts';
import { BotshelfError, codeOf } from './lib/errors.ts';
import { escapeControls } from './lib/text.ts';
import { readVersion } from './app/version.ts';

// `botshelf check | head` closes the pipe early; that is not an error.
process.stdout.on('error', (error) => {
  if (codeOf(error) !== 'EPIPE') throw error;
});

const program = new Command('botshelf')
  .description('A flat-file, Git-backed listing service for chat-platform bots.')
  .version(readVersion().version)
  .showHelpAfterError('(see botshelf --help)')
  .exitOverride();
addCommands(program);

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = exitCodeAfter(error);
}

/** Prints the error, unless commander has, and returns the exit code: 0 for --help and --version, else 2. */
function exitCodeAfter(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if ((error instanceof BotshelfError && error.isExplained) || codeOf(error) !== undefined) {
    const text = escapeControls((error as Error).message);
    process.stderr.write(`${colour('error', text, process.stderr)}\n`);
  } else {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`${escapeControls(text)}\n`);
  }
  return 2;
}
