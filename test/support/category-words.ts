import { categoryWordsOf } from '../../src/catalogue/search/category-words.ts';
import { settingsOf } from '../../src/catalogue/settings/settings.ts';

const words = categoryWordsOf(settingsOf());

/** Returns the names of the categories that a catalogue has without settings. */
export const defaultWords = (): typeof words => words;
