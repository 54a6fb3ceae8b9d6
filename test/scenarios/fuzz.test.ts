import '../fuzz/coverage.ts';
import { openAttributes } from '../fuzz/attributes.ts';
import { openForm, openHeaders, openQuery } from '../fuzz/requests.ts';
import { name as nameTarget, openRevision } from '../fuzz/revision.ts';
import { openSession } from '../fuzz/session.ts';
import { openWebhook } from '../fuzz/webhook.ts';
import { openImportFile } from '../fuzz/import-file.ts';
import { fuzzBriefly, fuzzLong, type Target } from '../fuzz/fuzzer.ts';
import { jsonBody } from '../fuzz/json-body.ts';
import { markdown } from '../fuzz/markdown.ts';
import { page } from '../fuzz/page.ts';
import { openSettingsFile } from '../fuzz/settings-file.ts';

/** Target → how to open it, and how many mutations `npm test` tests. */
const targets: Readonly<Record<string, readonly [open: () => Target | Promise<Target>, times: number]>> = {
  page: [() => page, 2000],
  markdown: [() => markdown, 600],
  'json-body': [() => jsonBody, 3000],
  'import-file': [openImportFile, 300],
  'settings-file': [openSettingsFile, 1000],
  attributes: [openAttributes, 60],
  revision: [openRevision, 30],
  name: [() => nameTarget, 5000],
  session: [openSession, 1000],
  webhook: [openWebhook, 300],
  query: [openQuery, 200],
  form: [openForm, 100],
  headers: [openHeaders, 200],
};

/** `npm run fuzz` sets how long; `npm test` tests the corpus and the same mutations each time. */
const minutes = Number(process.env['FUZZ_MINUTES'] ?? 0);

describe('nothing that strangers send does harm:', function () {
  this.timeout(minutes > 0 ? 0 : 180_000);
  for (const [name, [open, times]] of Object.entries(targets))
    it(name, async () => {
      const target = await open();
      if (minutes === 0) return await fuzzBriefly(name, target, times);
      console.log(await fuzzLong(name, target, minutes, process.env['FUZZ_SAVE'] === 'yes'));
    });
});
