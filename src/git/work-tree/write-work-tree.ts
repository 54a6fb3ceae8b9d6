import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UserError } from '../../lib/errors.ts';
import { createListError, runLimited } from '../changed-files.ts';
import { parseRawDiff, rawDiffOptions } from '../history.ts';
import { submodule } from '../objects/objects.ts';
import { runCommandLineGit, GitError } from '../process/run-git.ts';
import type { Repository } from '../repository.ts';
import { copyWithTime } from './git-index.ts';

/**
 * Writes a tree of the work tree, as a commit of it would have, and returns its id: of every file that Git tracks, and of
 * all files in `watched`, also those that Git ignores. A repository in `watched` becomes a submodule. Uses a copy of the
 * index, so that unchanged files are not read and the index stays as it is. The new objects stay until Git collects them.
 * @param watched files and folders, relative to `folder`
 * @throws {BotshelfError} list-too-long, where more than `maxUncommitted` files differ from the index: none of them was read
 * @throws {UserError} where Git cannot read a file, or cannot convert it as its attributes say
 */
export async function writeWorkTree(folder: string, watched: readonly string[]): Promise<string> {
  const query = ['rev-parse', '--show-toplevel', '--absolute-git-dir', '--show-prefix', 'HEAD'];
  const [top = '', gitDir = '', prefix = '', head = ''] = (await runCommandLineGit(folder, query)).split(
    '\n',
  );
  const paths = watched.map((path) => prefix + path);
  const [diff, others] = await Promise.all([
    runLimited(top, ['diff', ...rawDiffOptions, '--no-ext-diff', '--no-renames', '--']),
    runLimited(top, ['--literal-pathspecs', 'ls-files', '--others', '-z', '--', ...paths]),
  ]);
  const edited = parseRawDiff(diff);
  const added = others.split('\0').slice(0, -1);
  if (edited.length + added.length > maxUncommitted) throw createListError(`${maxUncommitted} files`);
  const entries: string[] = [];
  const files: string[] = [];
  for (const { path, status } of edited) {
    // One that is below a link by now cannot be removed by its path alone.
    if (status === 'D') entries.push(`0 ${'0'.repeat(head.length)}\t${path}\0`);
    else files.push(`${path}\0`);
  }
  for (const path of added) {
    // Git lists a repository as a folder, with a slash at its end.
    if (path.endsWith('/')) entries.push(`${submodule} ${head}\t${path.slice(0, -1)}\0`);
    else files.push(`${path}\0`);
  }
  const temp = await mkdtemp(join(tmpdir(), 'botshelf-index-'));
  const indexFile = join(temp, 'index');
  const run = async (args: readonly string[], input = ''): Promise<string> =>
    await runCommandLineGit(top, [...settings, ...args], { indexFile, ...(input !== '' && { input }) });
  try {
    await copyWithTime(join(gitDir, 'index'), indexFile);
    if (entries.length > 0) await run(['update-index', '-z', '--index-info'], entries.join(''));
    if (files.length > 0) await run([...addFiles, '-z', '--stdin'], files.join(''));
    return (await run(['write-tree', '--missing-ok'])).trim();
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    throw new UserError(`Git cannot add the files of the work tree: ${error.reason}`, { cause: error });
  } finally {
    await rm(temp, { recursive: true, force: true });
  }
}

/** Files that differ from the index. Each that is new to Git becomes an object, which is on the disk before the next. */
const maxUncommitted = 10_000;

const addFiles = ['update-index', '--add', '--remove', '--replace'];

/** The copy is a whole index, and a file that Git would not convert back is taken as it is. */
const settings = ['-c', 'core.splitIndex=false', '-c', 'core.safecrlf=false'];

/**
 * Returns that Git checks out a file with other bytes than it is committed with, and the command that ends that; null if it
 * does not. The bytes of such a file differ from the commit's, while `git status` is clean.
 * @param path from the top of the repository; the file need not exist
 * @throws {GitError}
 */
export async function findConversion(repository: Repository, path: string): Promise<string | null> {
  const { folder, commonDir } = repository;
  const readSetting = async (name: string): Promise<string> =>
    (await repository.run(['config', '--default=', '--get', name])).trim().toLowerCase();
  const attributes = await readAttributes(repository, path);
  const [autocrlf, eol] = await Promise.all(['core.autocrlf', 'core.eol'].map(readSetting));
  const { filter } = attributes;
  const isFiltered = filter !== '' && (await readSetting(`filter.${filter}.smudge`)) !== '';
  const cause = isFiltered ? `filter=${filter}` : findCause(attributes, autocrlf, eol);
  if (cause === null) return null;
  const file = join(commonDir, 'info/attributes');
  const fix = `cd ${folder} && git diff --quiet && echo '* ${off}' >>${file} && git ls-files -z | xargs -0 touch && git checkout --quiet .`;
  return `Git checks out pages with other bytes than they are committed with (${cause}), so posts to their bots are refused: ${fix}`;
}

const names = ['text', 'eol', 'ident', 'filter', 'working-tree-encoding'] as const;

const off = '-text -ident -filter -working-tree-encoding';

/** The values of attributes; empty if unspecified. */
type CheckoutAttributes = Readonly<Record<(typeof names)[number], string>>;

async function readAttributes(repository: Repository, path: string): Promise<CheckoutAttributes> {
  const output = (await repository.run(['check-attr', '-z', ...names, '--', path])).split('\0');
  const read = (name: string): string => {
    const value = output[output.indexOf(name) + 1] ?? '';
    return value === 'unspecified' || (value === 'unset' && name !== 'text') ? '' : value;
  };
  const [text, eol, ident, filter, encoding] = names.map(read) as [string, string, string, string, string];
  return { text, eol, ident, filter, 'working-tree-encoding': encoding };
}

/** As `convert.c` of Git decides. */
function findCause(
  { text, eol, ident, 'working-tree-encoding': encoding }: CheckoutAttributes,
  autocrlf: string | undefined,
  coreEol: string | undefined,
): string | null {
  if (ident !== '') return 'ident';
  if (encoding !== '') return `working-tree-encoding=${encoding}`;
  if (text === 'unset' || eol === 'lf') return null;
  if (eol === 'crlf') return 'eol=crlf';
  if (autocrlf === 'true') return 'core.autocrlf';
  return coreEol === 'crlf' && text !== '' && autocrlf !== 'input' ? 'core.eol=crlf' : null;
}
