import { availableParallelism } from 'node:os';
import { compareFaults } from '../catalogue/page/fault.ts';
import { listTop } from '../catalogue/page/page-file.ts';
import { createDiskReader, readSettings } from '../catalogue/settings/settings.ts';
import { splitIntoParts, WorkerPool } from '../lib/worker-pool.ts';
import {
  toErrorFinding,
  checkCatalogue,
  type CheckReport,
  type ReportOptions,
  checkSideFiles,
} from './check.ts';
import { listNamesInScope, type Scope, createFolderSource } from './source.ts';

/**
 * Checks a part of the catalogue in the folder `root` as checkCatalogue does, in a thread for each core where the part is
 * large.
 * @throws when `bots/` or a folder in it cannot be read
 */
export async function checkInThreads(
  root: string,
  scope: Scope,
  options: ReportOptions = {},
): Promise<CheckReport> {
  const bots = await checkBots(root, scope, options);
  if (scope !== 'everything') return bots;
  const beside = await checkSideFiles(createFolderSource(root));
  const findings = [...bots.findings, ...beside.findings].toSorted(compareFaults);
  return { files: bots.files + beside.files, findings };
}

async function checkBots(root: string, scope: Scope, options: ReportOptions): Promise<CheckReport> {
  const tops = listTop(root).filter((top) => listNamesInScope(scope, top) !== undefined);
  const threads = Math.min(availableParallelism(), maxThreads, Math.floor(tops.length / foldersPerThread));
  if (threads < 2) return await checkCatalogue(createFolderSource(root), scope, options);

  const module = new URL(import.meta.url);
  const pool = new WorkerPool<typeof checkPart>(module, 'checkPart', { threads });
  const settings = await readSettings(createDiskReader(root));
  let files = scope === 'everything' ? Number(settings.found) : 0;
  const faults = scope === 'everything' ? settings.faults.map(toErrorFinding) : [];
  try {
    const reports = await Promise.all(
      splitIntoParts(tops, foldersPerTask).map(async (part) => {
        const names = new Map(part.map((top) => [top, listNamesInScope(scope, top) ?? new Set<string>()]));
        const report = await pool.run({ root, scope: names, privateBlocked: options.privateBlocked });
        files += report.files;
        options.onProgress?.(files);
        return report;
      }),
    );
    const findings = [...faults, ...reports.flatMap((report) => report.findings)];
    return { files, findings: findings.toSorted(compareFaults) };
  } finally {
    await pool.close();
  }
}

/** Runs in a thread. */
export async function checkPart(part: {
  readonly root: string;
  readonly scope: Scope;
  readonly privateBlocked: ReportOptions['privateBlocked'];
}): Promise<CheckReport> {
  return await checkCatalogue(createFolderSource(part.root), part.scope, part);
}

/** More threads than this wait for each other's file system calls. */
const maxThreads = 4;

/** A thread takes a fifth of a second to start. */
const foldersPerThread = 100;

const foldersPerTask = 20;
