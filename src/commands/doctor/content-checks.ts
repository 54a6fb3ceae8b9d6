import { join } from 'node:path';
import { checkInThreads } from '../../check/parallel-check.ts';
import { ImageIndex } from '../../images/image-index.ts';
import { type DoctorCheck, fine, toOutcome, warning } from './results.ts';
import { formatCount } from '../../lib/counted.ts';

/** Every BOTSHELF_ variable is a setting. Values that cannot be used end the command before. */
export const checkSettings: DoctorCheck = ({ config: { unknown } }) =>
  unknown.length === 0
    ? fine('every BOTSHELF_ variable is a setting')
    : toOutcome('warning', unknown.join('; '));

/** Every file of the catalogue is valid. */
export const checkFiles: DoctorCheck = async ({ config }) => {
  const { files, findings } = await checkInThreads(config.catalogue, 'everything', () => {});
  const errors = findings.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (first === undefined) return fine(formatCount(files, 'valid file'));
  const faulty = new Set(errors.map(({ path }) => path)).size;
  return warning(
    `${formatCount(files, 'file')}, ${faulty} of them faulty, the first is ${first.path}:${first.line}:${first.column} ${first.message}`,
    'botshelf check',
  );
};

/** The images of the bots could be fetched. */
export const checkImages: DoctorCheck = async ({ config }) => {
  if (!config.images) return fine('not checked: BOTSHELF_IMAGES is off');
  const images = await ImageIndex.open(join(config.var, 'appdata/index'));
  const failing = [...images].flatMap(({ url, failure }) =>
    failure === null || failure.isRefused ? [] : [{ url, ...failure }],
  );
  if (failing.length === 0) return fine(`${formatCount(images.size, 'picture')} in the cache`);
  const named = failing.slice(0, maxNamedImages).map(({ url, message }) => `${url} ${message}`);
  const more = failing.length > maxNamedImages ? `; and ${failing.length - maxNamedImages} more` : '';
  return warning(
    `${formatCount(images.size, 'picture')}, ${failing.length} of which cannot be fetched: ${named.join('; ')}${more}`,
    'correct their addresses by pull request; the service tries again, less and less often',
  );
};

/** Images that are named; the rest are counted. */
const maxNamedImages = 5;
