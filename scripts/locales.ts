import { readFileSync } from 'node:fs';
import { silentLog } from '../src/lib/log.ts';
import { localesFolder, toSettings } from '../src/catalogue/settings/settings.ts';
import { Languages } from '../src/site/language/languages.ts';
import { type MessageTexts, parseMessages } from '../src/site/language/messages.tsx';

/** Prints what is wrong with each file of `locales/`, and the texts that it lacks, in English. */
const read = (tag: string): MessageTexts =>
  JSON.parse(readFileSync(`${localesFolder}/${tag}.json`, 'utf8')) as MessageTexts;
const english = read('en');
for (const locale of new Languages(silentLog, () => toSettings()).locales) {
  const { faults, missing } = parseMessages(locale, read(locale), english);
  const lacks = missing.map(
    (key) => `locales/${locale}.json lacks "${key}": ${JSON.stringify(english[key])}`,
  );
  for (const line of [...faults, ...lacks]) {
    process.stdout.write(`${line}\n`);
    process.exitCode = 1;
  }
}
