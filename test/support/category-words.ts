import { getCategoryWords } from '../../src/catalogue/search/category-words.ts';
import { toSettings } from '../../src/catalogue/settings/settings.ts';

const words = getCategoryWords(toSettings());

/** Returns the names of the categories that a catalogue has without settings. */
export const defaultWords = (): typeof words => words;
