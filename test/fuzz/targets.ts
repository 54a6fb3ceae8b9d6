import { openAttributes } from './attributes.ts';
import { openForm, openHeaders, openQuery } from './requests.ts';
import { name as nameTarget, openRevision } from './revision.ts';
import { openSession } from './session.ts';
import { openWebhook } from './webhook.ts';
import { openImportFile } from './import-file.ts';
import type { Target } from './fuzzer.ts';
import { jsonBody } from './json-body.ts';
import { markdown } from './markdown.ts';
import { page } from './page.ts';
import { openSettingsFile } from './settings-file.ts';

/** Target → how to open it, and how many mutations the short form tests. */
export const targets: Readonly<
  Record<string, readonly [open: () => Target | Promise<Target>, times: number]>
> = {
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
