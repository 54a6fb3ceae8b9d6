import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { testRepository } from '../../support/repository.ts';
import { startServiceProcess } from '../../support/service-process.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { issueTestTokens } from '../../support/token.ts';
import { checkAftermath } from './aftermath.ts';
import { files, ids, startPosting } from './owners.ts';

/** A file system in a file. */
export type ImageType = 'ext4' | 'xfs';

/** Returns why no image can be mounted here; undefined where one can. */
export function whyNoImages(type: ImageType): string | undefined {
  try {
    const [image, folder] = newImage(type);
    mount(type, image, folder);
    execFileSync('umount', ['--lazy', folder]);
    return undefined;
  } catch (error) {
    return String(error).replaceAll(/\s+/g, ' ');
  }
}

/**
 * Runs the service on an image, some seconds each time, stops it and copies the image: what the kernel has not written
 * is not in the copy. The service must go on there.
 */
export async function checkImages(type: ImageType, many: number): Promise<void> {
  const [image, folder] = newImage(type);
  const [copy, after] = [`${image}.copy`, `${folder}.copy`];
  mkdirSync(after);
  mount(type, image, folder);
  try {
    const repository = testRepository(files, join(folder, 'clone'));
    const tokens = await issueTestTokens(repository.folder, ids);
    execFileSync('sync', ['-f', folder]);
    for (let cut = 1; cut <= many; cut++) {
      const service = await startServiceProcess(repository.folder, { BOTSHELF_STATE_SECONDS: '1' });
      service.allowLog(/./);
      const { answers, end } = startPosting(service.address, tokens, ['count', 'website']);
      await rest(500 + Math.random() * 5000);
      const pids = stopTree(service.process.pid ?? 0);
      const answered = new Map(answers);
      execFileSync('cp', ['--sparse=always', image, copy]);
      for (const pid of pids) process.kill(pid, 'SIGKILL');
      await Promise.all([service.end('SIGKILL'), end()]);
      mount(type, copy, after);
      try {
        await checkAftermath(join(after, 'clone'), answered, tokens);
      } catch (error) {
        throw new Error(`power loss ${cut} of ${many} on ${type}: ${String(error)}`, { cause: error });
      } finally {
        execFileSync('umount', ['--lazy', after]);
      }
    }
  } finally {
    execFileSync('umount', ['--lazy', folder]);
  }
}

function newImage(type: ImageType): [image: string, folder: string] {
  const root = tempFolder();
  const [image, folder] = [join(root, 'image'), join(root, 'mounted')];
  mkdirSync(folder);
  writeFileSync(image, '');
  // The smallest that XFS takes is 300 MiB.
  truncateSync(image, 320 * 2 ** 20);
  execFileSync(`mkfs.${type}`, ['-q', image], { stdio: 'pipe' });
  return [image, folder];
}

function mount(type: ImageType, image: string, folder: string): void {
  const options = type === 'xfs' ? 'loop,nouuid' : 'loop';
  execFileSync('mount', ['-t', type, '-o', options, image, folder], { stdio: 'pipe' });
}

/** Stops a process and those that it has started, and returns all. */
function stopTree(pid: number): number[] {
  try {
    process.kill(pid, 'SIGSTOP');
    const tasks = readdirSync(`/proc/${pid}/task`);
    const children = tasks.map((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8'));
    return [pid, ...children.join('').trim().split(' ').filter(Boolean).map(Number).flatMap(stopTree)];
  } catch {
    // The process has ended.
    return [];
  }
}
