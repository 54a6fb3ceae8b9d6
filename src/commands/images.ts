import { join } from 'node:path';
import { readCommandConfig } from '../app/config.ts';
import { lockVar } from '../git/branch/clone.ts';
import { type OpenImages, openImages, listNamedImages } from '../images/images.ts';
import { UserError } from '../lib/errors.ts';
import { createLog, silentLog } from '../lib/log.ts';
import { formatCount } from '../lib/text.ts';
import { type CatalogueOnDisk, withCatalogue } from './catalogue-on-disk.ts';
import { escapeInvisible, showWhile } from './output.ts';

/** Fetches the images that the bots name; the exit code is 1 if one could not be fetched. @throws {UserError} */
export async function images(): Promise<void> {
  const config = readCommandConfig();
  if (!config.images)
    throw new UserError('BOTSHELF_IMAGES is off, so no images are cached: set it to on to fetch them');
  const lock = await lockVar(config.var);
  const log = process.stderr.isTTY ? silentLog : await createLog(config.log);
  const opened = await openImages(config, log);
  const { cache } = opened;
  const fetchAll = async ({ catalogue }: CatalogueOnDisk): Promise<void> => {
    await cache.setWanted(listNamedImages(catalogue, cache));
    await showWhile(() => formatProgressBar(cache.status()), cache.idle());
  };
  try {
    await withCatalogue(fetchAll, { cachedImages: (images) => cache.cachedImages(images) });
  } finally {
    await opened.close();
    await lock.release();
  }
  const { known, cached, failing } = cache.status();
  process.stdout.write(`${cached} of ${formatCount(known, 'image')} in ${join(config.var, 'appdata')}\n`);
  if (failing === 0) return;
  process.stdout.write(`${failing} could not be fetched: the service retries them, less and less often\n`);
  for (const [url, { message }] of [...cache.failures()].slice(0, maxNamedImages))
    process.stdout.write(`  ${escapeInvisible(`${url} ${message}`)}\n`);
  if (failing > maxNamedImages) process.stdout.write(`  and ${failing - maxNamedImages} more\n`);
  process.exitCode = 1;
}

/** Failed images that are listed. */
const maxNamedImages = 20;

/** Returns a line such as `[#########-----------] 120 of 265 images, 3 failed`. */
function formatProgressBar({ known, failing, left }: ReturnType<OpenImages['cache']['status']>): string {
  const done = known - left;
  const filled = known === 0 ? 0 : Math.floor((done / known) * barLength);
  const bar = '#'.repeat(filled).padEnd(barLength, '-');
  return `[${bar}] ${done} of ${formatCount(known, 'image')}${failing > 0 ? `, ${failing} failed` : ''}`;
}

const barLength = 20;
