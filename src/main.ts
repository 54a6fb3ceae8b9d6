#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { addCommands } from './commands/add-commands.ts';
import { colour, warn } from './commands/output.ts';
import { BotshelfError, codeOf, messageOf } from './lib/errors.ts';
import { escapeControls } from './lib/text.ts';
import { readVersion } from './app/version.ts';

// `botshelf check | head` closes the pipe early; that is not an error.
process.stdout.on('error', (error) => {
  if (codeOf(error) !== 'EPIPE') throw error;
});

const program = new Command('botshelf')
  .description('A flat-file, Git-backed listing service for chat-platform bots.')
  .version(readVersion().version)
  .option('--env-file <file>', 'set the variables of a file first, as systemd does for an EnvironmentFile')
  .showHelpAfterError('(see botshelf --help)')
  .hook('preAction', async () => {
    const { envFile } = program.opts<{ envFile?: string }>();
    if (envFile !== undefined) (await import('./app/config.ts')).loadEnvironmentFile(envFile, warn);
  })
  .exitOverride();
addCommands(program);

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = await exitCodeAfter(error);
}

/** Prints the error, unless commander has, and returns the exit code: 0 for --help and --version, else 2. */
async function exitCodeAfter(error: unknown): Promise<number> {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const isExplained = (error instanceof BotshelfError && error.isExplained) || codeOf(error) !== undefined;
  const stack = error instanceof Error && !isExplained ? error.stack : undefined;
  const { isJournal } = await import('./app/config.ts');
  const priority = isJournal() ? '<3>' : '';
  const missing = codeOf(error) === 'ENOENT' ? (error as NodeJS.ErrnoException).path : undefined;
  const message = missing === undefined ? messageOf(error) : `there is no ${missing}: check the path`;
  const text = escapeControls(stack ?? message).replaceAll(/^/gm, priority);
  process.stderr.write(`${colour('error', text, process.stderr)}\n`);
  return 2;
}
