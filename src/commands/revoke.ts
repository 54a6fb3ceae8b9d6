import type { Command } from 'commander';
import { token } from './token.ts';

export function addRevoke(program: Command): void {
  program
    .command('revoke')
    .description("end a bot's token without a new one")
    .argument('<id>', "the bot's id")
    .addHelpText('after', '\nExit code: 0 the bot has no token now, 2 the token was not changed.')
    .action(async (id: string) => await token(id, { revoke: true }));
}
