import { join } from 'node:path';
import { readCommandConfig } from '../app/config.ts';
import { Catalogue } from '../catalogue/catalogue.ts';
import { lockVar } from '../git/branch/clone.ts';
import { RepositoryOpener } from '../git/repository.ts';
import { type OpenImages, openImages, listNamedImages } from '../images/images.ts';
import { UserError } from '../lib/errors.ts';
import { createLog, silentLog } from '../lib/log.ts';
import { formatCount } from '../lib/text.ts';
import { escapeInvisible, createProgress } from './output.ts';

/** Fetches the images that the bots name; the exit code is 1 if one could not be fetched. @throws {UserError} */
export async function images(): Promise<void> {
  const config = readCommandConfig();
  if (!config.images) {
    throw new UserError('BOTSHELF_IMAGES is off, so no pictures are cached: set it to on to fetch them');
  }
  const lock = await lockVar(config.var);
  const log = process.stderr.isTTY ? silentLog : await createLog(config.log);
  const opened = await openImages(config, log);
  const repositoryOpener = new RepositoryOpener(config.catalogue);
  const hash = await repositoryOpener.hash();
  repositoryOpener.close();
  const catalogue = new Catalogue({
    root: config.catalogue,
    hash,
    log: silentLog,
    snapshot: join(config.var, 'index.snapshot'),
    cachedImages: (images) => opened.cache.cachedImages(images),
  });
  const progress = createProgress(process.stderr);
  const showing = setInterval(() => progress.show(formatProgressBar(opened.cache.status())), 100);
  try {
    await catalogue.load();
    await opened.cache.setWanted(listNamedImages(catalogue, opened.cache));
    await opened.cache.idle();
  } finally {
    clearInterval(showing);
    progress.end();
    await opened.close();
    await catalogue.close();
    await lock.release();
  }
  const { known, cached, failing } = opened.cache.status();
  process.stdout.write(`${cached} of ${formatCount(known, 'picture')} in ${join(config.var, 'appdata')}\n`);
  if (failing === 0) return;
  process.stdout.write(`${failing} could not be fetched: the service retries them, less and less often\n`);
  for (const [url, { message }] of [...opened.cache.failures()].slice(0, maxNamedImages)) {
    process.stdout.write(`  ${escapeInvisible(`${url} ${message}`)}\n`);
  }
  if (failing > maxNamedImages) process.stdout.write(`  and ${failing - maxNamedImages} more\n`);
  process.exitCode = 1;
}

/** Failed images that are listed. */
const maxNamedImages = 20;

/** Returns a line such as `[#########-----------] 120 of 265 pictures, 3 failed`. */
function formatProgressBar({ known, failing, left }: ReturnType<OpenImages['cache']['status']>): string {
  const done = known - left;
  const filled = known === 0 ? 0 : Math.floor((done / known) * barLength);
  const bar = '#'.repeat(filled).padEnd(barLength, '-');
  return `[${bar}] ${done} of ${formatCount(known, 'picture')}${failing > 0 ? `, ${failing} failed` : ''}`;
}

const barLength = 20;
