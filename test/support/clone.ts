import { cpSync, symlinkSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { packageFolder } from './package-files.ts';
import { type TestRepository, testRepository } from './repository.ts';
import { tempFolder } from './temp-folder.ts';

/** A copy of this package in a temp folder, as a person has it after `git clone` and `npm ci`. It is not built. */
export function cloneOfPackage(): TestRepository {
  const folder = join(tempFolder(), 'botshelf');
  const repository = testRepository({}, folder);
  cpSync(packageFolder, folder, {
    recursive: true,
    filter: (path) => basename(path) !== 'node_modules' && !notCloned.has(relative(packageFolder, path)),
  });
  repository.commit({});
  symlinkSync(join(packageFolder, 'node_modules'), join(folder, 'node_modules'));
  return repository;
}

const notCloned = new Set(['.git', 'dist', 'var', 'catalogue', 'coverage']);
