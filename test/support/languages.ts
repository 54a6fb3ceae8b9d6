import { silentLog } from '../../src/log.ts';
import { Languages } from '../../src/site/language/languages.ts';

/** The languages of the interface as they are shipped. */
export const testLanguages = new Languages(silentLog);
