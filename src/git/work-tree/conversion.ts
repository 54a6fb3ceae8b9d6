import { join } from 'node:path';
import type { Repository } from '../repository.ts';

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
