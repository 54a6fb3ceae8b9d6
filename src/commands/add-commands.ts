import { Argument, type Command, Option } from 'commander';
import { filters } from '../catalogue/lists/parameters.ts';
import type { BlockedName } from '../catalogue/settings/blocked.ts';
import { gitHosts } from '../git/hosts.ts';
import type { BotsFlags } from './bots.ts';
import type { CheckFlags } from './check.ts';
import type { ExportOptions } from './export.ts';

/** Adds every command to the program. Each loads its modules when it runs: loading all takes a quarter of a second. */
export function addCommands(program: Command): void {
  program
    .command('serve')
    .description('run the service; its settings are environment variables')
    .addHelpText(
      'after',
      `
The most used settings, which botshelf settings lists with all others:
  HOST, PORT           where to listen
  BOTSHELF_BASE_URL    the public address
  BOTSHELF_CATALOGUE   the folder that holds bots/
  BOTSHELF_REMOTE      the Git repository to keep in step with
Exit code: 0 ended by a signal, 1 not cleanly, 2 the service could not run.`,
    )
    .action(async () => await (await import('./serve.ts')).serve());
  program
    .command('demo')
    .description('serve a catalogue of invented bots in a temporary folder, which is deleted at the end')
    .addHelpText(
      'after',
      '\nNeeds no network. Its settings are HOST and PORT; on a free port where PORT is not set.\nExit code: 0 ended by a signal, 2 the demo could not run.',
    )
    .action(load(async () => (await import('./demo.ts')).demo));
  program
    .command('mirror')
    .description("serve a read-only copy of somebody's list, with the settings of serve")
    .argument(
      '<address>',
      'the Git address of its catalogue, such as https://git.example.org/people/list.git',
    )
    .option('--folder <folder>', 'where the copy is kept (default: the name of the repository)')
    .option('--port <port>', 'where to listen on this machine')
    .option('--canonical <url>', 'the public address of the original: pages name it, and forms lead there')
    .addHelpText('after', '\nExit code: 0 ended by a signal, 1 not cleanly, 2 there is no copy to serve.')
    .action(load(async () => (await import('./mirror.ts')).mirror));
  program
    .command('settings')
    .description(
      'list all settings of the service: environment variables, with their defaults and what is in force here',
    )
    .action(load(async () => (await import('../app/config.ts')).printSettings));
  const paths = ['[paths...]', 'files or folders below bots/ (default: all of it)'] as const;
  program
    .command('check')
    .description('check the catalogue against its rules and print every fault with its fix')
    .argument(...paths)
    .option(
      '--base <revision>',
      'check what the working tree changed since it branched off this revision, and apply the rules about changes too',
    )
    .option('--head <revision>', 'with --base: check the merge of this commit into it, without a checkout')
    .option('--fetch <remote>', 'with --head: fetch that commit from this remote or address first')
    .addOption(
      new Option(
        '--format <format>',
        'output: lines, GitHub annotations, or a document: JSON, SARIF, GitLab’s code quality',
      )
        .choices(['text', 'github', 'json', 'sarif', 'gitlab'] satisfies CheckFlags['format'][])
        .default('text'),
    )
    .addHelpText('after', '\nExit code: 0 no faults, 1 faults found, 2 the check could not run.')
    .action(load(async () => (await import('./check.ts')).check));
  program
    .command('format')
    .description('rewrite the front matter of page files in its canonical form; the markdown stays as it is')
    .argument(...paths)
    .option('--check', 'write nothing, print the files that would change')
    .addHelpText(
      'after',
      '\nExit code: 0 done, 1 a file cannot be read as a page or, with --check, would change, 2 the command could not run.',
    )
    .action(load(async () => (await import('./format.ts')).format));
  program
    .command('new')
    .description('create the file of a new bot, or of another language of a bot, in the right folder')
    .argument('<id>', "the bot's id, 1 to 20 digits")
    .option(
      '--locale <tag>',
      'the language of the page, such as en, en-GB or zh-CN; else that of the catalogue',
    )
    .option('--author <account>', "your account's id, 1 to 20 digits; else a placeholder")
    .addHelpText('after', '\nPrints the path of the file. Exit code: 0 done, 2 no file was created.')
    .action(load(async () => (await import('./new.ts')).createPage));
  program
    .command('init')
    .description('create a Git repository for a catalogue, separate from the code')
    .argument('<folder>', 'a new or empty folder')
    .option('--samples', 'include the sample bots')
    .option('--branch <name>', 'the name of the branch', 'main')
    .addOption(
      new Option('--host <host>', 'the Git host, for its check of pull requests; forgejo is Gitea too')
        .choices(Object.keys(gitHosts))
        .default('github'),
    )
    .option(
      '--checker <spec>',
      'what the check installs: the address of a package file or a Git address (default: this commit, at the address that this clone is from, or this package)',
    )
    .addHelpText('after', '\nExit code: 0 done, 2 the repository could not be created.')
    .action(load(async () => (await import('./init.ts')).init));
  program
    .command('import')
    .description('bring in the bots of another list, or of an export; what is there stays as it is')
    .argument(
      '<source>',
      'a .csv, .tsv, .json, .ndjson, .jsonl or .yml file, or a folder of .md, .yml or .json files',
    )
    .option('--map <file>', 'which field is which key; an export needs none')
    .option('--suggest', 'print a mapping to begin with, and import nothing')
    .option('--replace', 'replace the pages of bots that are there with others')
    .option('--dry-run', 'write nothing and print the same report')
    .option('--images', "then fetch the bots' images, as botshelf images does")
    .addHelpText(
      'after',
      '\nRun it again after it was stopped: what is there already is left as it is.\nExit code: 0 all are imported, 1 some records did not fit, 2 the command could not run.',
    )
    .action(load(async () => (await import('./import.ts')).importList));
  program
    .command('token')
    .description('issue new tokens to bots and end the old ones; of several, each is printed after its bot')
    .argument('<ids...>', "the bots' ids")
    .option('--revoke', 'same as botshelf revoke')
    .addHelpText('after', '\nExit code: 0 done, 2 no token was changed.')
    .action(load(async () => (await import('./token.ts')).token));
  program
    .command('revoke')
    .description('end the tokens of bots without new ones')
    .argument('<ids...>', "the bots' ids")
    .addHelpText('after', '\nExit code: 0 the bots have no token now, 2 no token was changed.')
    .action(async (ids: string[]) => await (await import('./token.ts')).token(ids, { revoke: true }));
  program
    .command('backup')
    .description(
      'back up the catalogue, its counts and tokens, and the private files outside Git (safe while it is served)',
    )
    .argument('<folder>', 'a new or empty folder, or that of an earlier backup, which is brought up to date')
    .addHelpText('after', '\nExit code: 0 the backup is complete, 2 it is not; an earlier one is still good.')
    .action(load(async () => (await import('./backup.ts')).backup));
  program
    .command('restore')
    .description('make the catalogue and the var folder of the settings from a backup')
    .argument('<folder>', 'the folder of the backup')
    .addHelpText('after', '\nReplaces nothing that is there.\nExit code: 0 done, 2 it is not restored.')
    .action(load(async () => (await import('./backup.ts')).restore));
  program
    .command('doctor')
    .description('check everything that the service depends on, and suggest fixes (safe while it runs)')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nReads the settings of the service from the environment and changes nothing.\nExit code: 0 all is well, 1 warnings, 2 errors.',
    )
    .action(load(async () => (await import('./doctor.ts')).doctor));
  program
    .command('report')
    .description('list what needs attention in the catalogue, as markdown for an issue')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nReads files, Git and, where a service runs here, what it has in its var folder; changes nothing.\nExit code: 0 done, 2 the command could not run.',
    )
    .action(load(async () => (await import('./report.ts')).report));
  addBotsCommand(program);
  addBlockCommands(program);
  program
    .command('export')
    .description('print all bots of the catalogue, with the text of their files')
    .addOption(
      new Option(
        '--format <format>',
        'one JSON document a line, or the main pages without their markdown as CSV',
      )
        .choices(['ndjson', 'csv'] satisfies ExportOptions['format'][])
        .default('ndjson'),
    )
    .addHelpText(
      'after',
      '\nWorks on the files, without a service.\nExit code: 0 done, 1 files with faults were left out, 2 the command could not run.',
    )
    .action(load(async () => (await import('./export.ts')).exportBots));
  program
    .command('images')
    .description("fetch the bots' images into the image cache, as a running service does by itself")
    .addHelpText(
      'after',
      '\nExit code: 0 every image is cached, 1 some could not be fetched, 2 the command could not run.',
    )
    .action(load(async () => (await import('./images.ts')).images));
}

function addBotsCommand(program: Command): void {
  const command = program
    .command('bots')
    .description('list bots of the catalogue, set keys of their pages, or remove them')
    .argument('[ids...]', 'bots by their ids (default: all)')
    .option('--q <words>', 'bots that a search for these words finds', collect);
  for (const [name, { description, schema }] of Object.entries(filters)) {
    const value = 'type' in schema && schema.type === 'boolean' ? '[boolean]' : '<value>';
    const option = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    command.option(`--${option} ${value}`, description.replaceAll('`', ''), collect);
  }
  command
    .option('--inactive <days>', 'bots without a new count for so long, such as 90d')
    .option('--asks <permission>', 'bots whose invite link asks for it, such as administrator')
    .addOption(
      new Option('--format <format>', 'output of a list')
        .choices(['table', 'json', 'ids'] satisfies BotsFlags['format'][])
        .default('table'),
    )
    .option('--set <key=value>', 'set a key of their main pages; the value is JSON, or else a text', collect)
    .option('--remove', 'remove all their pages, and end their tokens')
    .option('--reason <text>', 'why, for the message of the commit')
    .option('--all', 'let --set and --remove change every bot')
    .option('--yes [number]', 'commit what --set and --remove describe; over 20 bots need their number')
    .addHelpText(
      'after',
      '\nReads the files on disk, and the counts that are committed; --active and --inactive fetch those of the remote. --set and --remove make one commit.\nExit code: 0 done, also where no bot is found; 1 something was set aside because it was changed at the same time; 2 nothing was changed, or tokens could not be revoked, or the outcome is unknown: the message says which.',
    )
    .action(load(async () => (await import('./bots.ts')).bots));
}

function addBlockCommands(program: Command): void {
  const what = new Argument('<kind>', 'what it is').choices(['account', 'bot', 'host']);
  const name = [
    '<name>',
    'its id, or the host or an address at it, which stands for its subdomains too',
  ] as const;
  program
    .command('block')
    .description('block an account, a bot or a host, so that it may not be listed, and list its bots')
    .addArgument(what)
    .argument(...name)
    .option('--reason <text>', 'why, for maintainers')
    .option('--remove', 'remove its bots, and end their tokens')
    .option('--yes [number]', 'do what --remove describes; over 20 bots need their number')
    .addHelpText(
      'after',
      '\nWrites the file that BOTSHELF_BLOCKED names, or else commits blocked.json.\nExit code: 0 done, 1 it was set aside because it was changed at the same time, 2 nothing or only a part was changed, or the outcome is unknown: the message says which.',
    )
    .action(load(async () => (await import('./block.ts')).block));
  program
    .command('unblock')
    .description('let an account, a bot or a host be listed again')
    .addArgument(what)
    .argument(...name)
    .addHelpText('after', '\nExit code: 0 done, 2 nothing was changed.')
    .action(
      async (kind: BlockedName['kind'], text: string) =>
        await (await import('./block.ts')).block(kind, text, { ends: true }),
    );
}

function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/** Returns an action that loads its command when it runs. */
function load<A extends readonly unknown[]>(find: () => Promise<(...args: A) => unknown>) {
  return async (...args: A): Promise<void> => void (await (await find())(...args));
}
