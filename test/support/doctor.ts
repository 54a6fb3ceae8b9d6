import { readConfig } from '../../src/app/config.ts';
import type { DoctorContext } from '../../src/commands/doctor-results.ts';
import { RepositoryOpener } from '../../src/git/repository.ts';

const openers: RepositoryOpener[] = [];

after('end the git processes of the checks', () => {
  for (const opener of openers.splice(0)) opener.close();
});

/** What the checks of `botshelf doctor` look at, for a catalogue and these settings. */
export function doctorContext(catalogue: string, env: Readonly<Record<string, string>> = {}): DoctorContext {
  const config = readConfig({ BOTSHELF_CATALOGUE: catalogue, ...env });
  const repositoryOpener = new RepositoryOpener(config.catalogue);
  openers.push(repositoryOpener);
  return { config, repositoryOpener, signal: new AbortController().signal };
}
