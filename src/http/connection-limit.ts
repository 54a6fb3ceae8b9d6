import { report } from 'node:process';

/** Returns how many connections to accept, so that file descriptors are left for files, pipes and outgoing sockets. */
export function connectionLimit(): number {
  const { userLimits } = report.getReport() as {
    userLimits?: { open_files?: { soft: number | 'unlimited' } };
  };
  const openFiles = Number(userLimits?.open_files?.soft);
  return Number.isNaN(openFiles) ? Infinity : Math.floor(openFiles - Math.min(openFiles / 4, 1000));
}
