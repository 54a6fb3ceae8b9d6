import { ok } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { openSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tempFolder } from '../../support/temp-folder.ts';

/** Makes one system call of a process, or of one that it starts, fail. */
export interface FaultInjector {
  /** The environment of the process. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Has the `target`th call from now on fail, from 1, with error number `kind`, from 0, of those that it can have: calls
   * with fewer do not count. With a target of 0 the disk is full: every call that writes fails.
   */
  arm(target: number, kind: number): void;
  /** Has the process killed as soon as it has answered a post. */
  killAfterAnswer(): void;
  /** Ends it, and returns how many calls there were and what was made to fail, such as "fsync of .git/index, EIO". */
  disarm(): { readonly calls: number; readonly failed: string | undefined };
}

/**
 * Prepares faults in calls on files below `folder`: open, write, fsync, truncate, rename, link, unlink and mkdir.
 * @param only the calls that count, such as "rename of .git/index"; all where left out
 * @throws {Error} where there is no C compiler
 */
export function faultInjector(folder: string, only?: string): FaultInjector {
  const control = join(tempFolder(), 'control');
  writeFileSync(control, Buffer.alloc(4096));
  const file = openSync(control, 'r+');
  const write = (values: readonly number[]): void => {
    writeSync(file, Buffer.from(Int32Array.from(values).buffer), 0, values.length * 4, 0);
  };
  return {
    env: {
      LD_PRELOAD: library(),
      FAULT_FOLDER: folder,
      FAULT_CONTROL: control,
      UV_USE_IO_URING: '0',
      ...(only !== undefined && { FAULT_ONLY: only }),
    },
    arm: (target, kind) => {
      write([0, target, 0, kind, 0]);
      write([1]);
    },
    killAfterAnswer: () => write([2]),
    disarm: () => {
      write([0]);
      const state = Buffer.alloc(532);
      readSync(file, state, 0, state.length, 0);
      const fired = state.readInt32LE(16) === 1;
      const words = state.subarray(20);
      return {
        calls: state.readInt32LE(8),
        failed: fired ? words.toString('utf8', 0, words.indexOf(0)) : undefined,
      };
    },
  };
}

/** FAULTS is the number of an error, 0 to 2, that every call is made to fail with, or "all" for one after the other. */
const { FAULTS } = process.env;

/** Whether every call is made to fail, and the service restarted after each. */
export const isWhole = FAULTS !== undefined;

/** How many calls fail in the short form, spread evenly over those of a step, each with another kind of error. */
const sampled = 3;

export type Inject = <T>(work: () => Promise<T>) => Promise<{ readonly result: T; readonly failed: string }>;

/** Has a step done again and again, each time with another call failing, until a step has no further call. */
export async function forEachFault(
  injector: FaultInjector,
  step: (inject: Inject, restart: boolean) => Promise<void>,
): Promise<void> {
  let calls = 0;
  const at = async (target: number, kind: number, restart: boolean): Promise<boolean> => {
    let wasMade = false;
    await step(async (work) => {
      injector.arm(target, kind);
      const result = await work();
      const done = injector.disarm();
      calls = done.calls;
      wasMade = done.failed !== undefined;
      return { result, failed: done.failed ?? `no fault in ${calls} calls` };
    }, restart);
    return wasMade;
  };
  await at(Number.MAX_SAFE_INTEGER % 2 ** 31, 0, false);
  ok(calls > 20, `${calls} calls on files were made`);
  if (isWhole) {
    const kinds = FAULTS === 'all' ? [0, 1, 2] : [Number(FAULTS)];
    for (const kind of kinds) {
      let target = 1;
      while (await at(target, kind, true)) target++;
      process.stdout.write(`    ${target - 1} calls failed with error ${kind}\n`);
    }
  } else {
    const every = calls / sampled;
    for (let n = 0; n < sampled; n++) await at(1 + Math.floor((n + 0.5) * every), n % 2, n === sampled - 1);
  }
}

let compiled: string | undefined;

function library(): string {
  if (compiled !== undefined) return compiled;
  const source = fileURLToPath(new URL('./test/verify/faults/fail-call.c', import.meta.resolve('#package')));
  const target = join(tempFolder(), 'fail-call.so');
  execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', target, source, '-ldl'], { stdio: 'pipe' });
  return (compiled = target);
}
