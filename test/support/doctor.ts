import { examineConfig } from '../../src/app/config.ts';
import type { DoctorContext } from '../../src/commands/doctor-results.ts';
import { openerOf } from './opened.ts';

/** The input of the checks of `botshelf doctor`, for a catalogue and these settings. */
export function doctorContext(catalogue: string, env: Readonly<Record<string, string>> = {}): DoctorContext {
  const examined = examineConfig({ BOTSHELF_CATALOGUE: catalogue, ...env });
  const repositoryOpener = openerOf(examined.config.catalogue);
  return { ...examined, repositoryOpener, signal: new AbortController().signal };
}
