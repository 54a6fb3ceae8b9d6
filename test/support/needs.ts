import { getNeeds } from '../../src/catalogue/search/query.ts';
import { toSettings } from '../../src/catalogue/settings/settings.ts';

const needs = getNeeds(toSettings());

/** Returns what needs mean in a catalogue without settings. */
export const defaultNeeds = (): typeof needs => needs;
