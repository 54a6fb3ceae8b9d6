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
  page: [() => page, 500],
  markdown: [() => markdown, 150],
  'json-body': [() => jsonBody, 1000],
  'import-file': [openImportFile, 100],
  'settings-file': [openSettingsFile, 300],
  attributes: [openAttributes, 20],
  revision: [openRevision, 10],
  name: [() => nameTarget, 2000],
  session: [openSession, 300],
  webhook: [openWebhook, 100],
  query: [openQuery, 60],
  form: [openForm, 30],
  headers: [openHeaders, 60],
};
