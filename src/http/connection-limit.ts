import { report } from 'node:process';

/** How many connections there may be so that files, pipes and sockets of our own can be opened beside them. */
export function connectionLimit(): number {
  const { userLimits } = report.getReport() as {
    userLimits?: { open_files?: { soft: number | 'unlimited' } };
  };
  const openFiles = Number(userLimits?.open_files?.soft);
  return Number.isNaN(openFiles) ? Infinity : Math.floor(openFiles - Math.min(openFiles / 4, 1000));
}
