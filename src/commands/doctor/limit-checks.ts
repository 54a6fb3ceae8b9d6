import { readFileSync } from 'node:fs';
import { listTop } from '../../catalogue/store/folder.ts';
import { computeMaxConnections } from '../../http/server.ts';
import { type DoctorCheck, fine, failure, type Outcome, warning } from './results.ts';
import { formatCount } from '../../lib/counted.ts';

/** The kernel lets the service watch every folder of the catalogue. */
export const checkWatches: DoctorCheck = ({ config }) => {
  const folders = listTop(config.catalogue).length;
  try {
    return watchOutcome(folders, readLimit('max_user_watches'), readLimit('max_user_instances'));
  } catch {
    return fine(
      `not checked: this machine has no limits of inotify; the catalogue has ${formatCount(folders, 'folder')}`,
    );
  }
};

function readLimit(name: string): number {
  return Number(readFileSync(`/proc/sys/fs/inotify/${name}`, 'utf8'));
}

/** @param watches what one user may watch @param instances how many watchers one user may have */
export function watchOutcome(folders: number, watches: number, instances: number): Outcome {
  const limits = `${formatCount(folders, 'folder')} to watch, and this user may watch ${watches} with ${formatCount(instances, 'watcher')}`;
  const fix = `sysctl -w fs.inotify.max_user_watches=${Math.max(524_288, folders * 4)} fs.inotify.max_user_instances=${Math.max(128, instances)}`;
  if (watches < folders + 1 || instances < 1) return failure(limits, fix);
  // Other programs of the user watch too.
  return watches < folders * 2 + 100 || instances < 16 ? warning(limits, fix) : fine(limits);
}

/** There are descriptors for the connections of a busy hour. */
export const checkOpenFiles: DoctorCheck = () => openFilesOutcome(computeMaxConnections());

/** @param connections how many the limit on open files leaves room for */
export function openFilesOutcome(connections: number): Outcome {
  const reason = `the limit on open files leaves room for ${formatCount(connections, 'connection')}`;
  return connections < fewConnections
    ? warning(reason, 'LimitNOFILE=65536 in the unit, or ulimit -n 65536')
    : fine(reason);
}

const fewConnections = 700;
