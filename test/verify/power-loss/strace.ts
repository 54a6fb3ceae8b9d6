import { readFileSync } from 'node:fs';
import { mainFile } from '../../support/command-line.ts';

/** A system call that has succeeded. */
export interface Call<Start> {
  /** The process, whichever of its threads made the call. */
  readonly process: Process;
  readonly name: string;
  readonly args: readonly Argument[];
  readonly result: number;
  /** The path of the descriptor that it returned. */
  readonly path: string | undefined;
  /** The result of `begin`. */
  readonly start: Start;
  /** The call as strace prints it, without most of its data. */
  readonly text: string;
}

export interface Argument {
  /** As strace prints it. */
  readonly text: string;
  /** The path of a descriptor. */
  readonly path: string | undefined;
  /** A string, or all strings of a list, a character for each byte. */
  readonly bytes: string;
}

export interface Process {
  folder: string;
  readonly id: number;
}

const calls =
  'open openat creat read write pwrite64 writev pwritev lseek truncate ftruncate fallocate copy_file_range sendfile ioctl ' +
  'rename renameat renameat2 link linkat unlink unlinkat mkdir mkdirat rmdir symlink symlinkat chmod fchmod fchmodat ' +
  'fsync fdatasync sync syncfs chdir fchdir clone clone3 fork vfork';

/**
 * Returns a command that runs the service, or another program of ours, and the git processes that it starts, with their calls
 * on files in `file`.
 */
export function traced(
  file: string,
  program: readonly string[] = [mainFile, 'serve'],
): readonly [string, ...string[]] {
  const trace = ['-D', '-f', '--seccomp-bpf', '-y', '-s', String(2 ** 26), '-e', 'signal=none'];
  const which = ['-e', `trace=${calls.replaceAll(' ', ',')}`, '-o', file];
  return ['strace', ...trace, ...which, process.execPath, ...program];
}

/**
 * Reads a trace: calls with a path below `root` or a relative one, and writes of an HTTP response, in the order of their ends.
 * @param folder where the traced process was started
 * @param begin called at the begin of each call, with the path of its first descriptor
 */
export function* readCalls<Start>(
  file: string,
  root: string,
  folder: string,
  begin: (path: string | undefined) => Start,
): Generator<Call<Start>> {
  const lines = wholeLines(readFileSync(file, 'latin1'));
  const processes = new Map<number, Process>();
  const parents = new Map(lines.flatMap(parentOf));
  const processOf = (id: number): Process => {
    const { parent, isThread } = parents.get(id) ?? {};
    let found = processes.get(id);
    if (found === undefined) {
      const above = parent === undefined ? undefined : processOf(parent);
      found = above && isThread ? above : { id, folder: above?.folder ?? folder };
      processes.set(id, found);
    }
    return found;
  };
  const started = new Map<number, Start>();
  for (const { id, text, isEnd } of lines) {
    const name = text.slice(0, text.indexOf('('));
    const start = (): Start => begin(/^[^"<]*<([^>]*)>/.exec(text)?.[1]);
    const process = processOf(id);
    if (!isEnd) {
      started.set(id, start());
      continue;
    }
    const held = started.get(id);
    started.delete(id);
    const isRelevant = onDescriptors.has(name) ? text.includes(root) || text.includes('"HTTP/1.1 200') : true;
    const [, result = '', path] = /= (-?\d+)(?:<(.*)>)?(?: [A-Z(].*)?$/.exec(text.slice(-4096)) ?? [];
    if (!isRelevant || result === '' || result.startsWith('-')) continue;
    const args = parseArguments(text.slice(name.length + 1));
    const shown = text.length > 300 ? `${text.slice(0, 200)} … ${text.slice(-60)}` : text;
    yield { process, name, args, result: Number(result), path, start: held ?? start(), text: shown };
  }
}

/** Calls that take no path, of which there are many. */
const onDescriptors = new Set(['read', 'write', 'writev', 'pwrite64', 'ioctl', 'lseek', 'openat']);

interface Line {
  readonly id: number;
  /** The call, up to where it was interrupted if this is not its end. */
  readonly text: string;
  readonly isEnd: boolean;
}

function wholeLines(trace: string): Line[] {
  const open = new Map<number, string>();
  return trace.split('\n').flatMap((line): Line[] => {
    const [, number, text = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const id = Number(number);
    const begun = / <unfinished \.\.\.>$/.exec(text);
    if (begun) {
      open.set(id, text.slice(0, begun.index));
      return [{ id, text: text.slice(0, begun.index), isEnd: false }];
    }
    const resumed = /^<\.\.\. \w+ resumed>/.exec(text);
    if (resumed) return [{ id, text: `${open.get(id) ?? ''}${text.slice(resumed[0].length)}`, isEnd: true }];
    return /^\w+\(/.test(text) ? [{ id, text, isEnd: true }] : [];
  });
}

function parentOf({ id, text, isEnd }: Line): [number, { parent: number; isThread: boolean }][] {
  const child = isEnd && /^(?:clone3?|v?fork)\(/.test(text) ? / = (\d+)$/.exec(text)?.[1] : undefined;
  return child === undefined
    ? []
    : [[Number(child), { parent: id, isThread: text.includes('CLONE_THREAD') }]];
}

/** Parses what follows the parenthesis of a call. */
function parseArguments(text: string): Argument[] {
  const args: Argument[] = [];
  let begin = 0;
  let depth = 0;
  let strings: string[] = [];
  for (let i = 0; i < text.length; i++) {
    const char = text[i] ?? '';
    if (char === '"') {
      const from = i + 1;
      do i = text.indexOf('"', i + 1);
      while (isEscaped(text, i));
      strings.push(unescape(text.slice(from, i)));
    } else if (char === '<') i = text.indexOf('>', i);
    else if ('[{'.includes(char)) depth++;
    else if (depth > 0 && ']}'.includes(char)) depth--;
    else if (depth === 0 && ',)'.includes(char)) {
      const arg = text.slice(begin, i).trim();
      const path = arg.startsWith('"') ? undefined : /^\w+<(.*)>$/.exec(arg)?.[1];
      args.push({ text: arg, path, bytes: strings.join('') });
      if (char === ')') return args;
      strings = [];
      begin = i + 1;
    }
  }
  return args;
}

function isEscaped(text: string, quote: number): boolean {
  let before = quote;
  while (text[before - 1] === '\\') before--;
  return (quote - before) % 2 === 1;
}

function unescape(text: string): string {
  return text.replaceAll(/\\(?:([0-7]{1,3})|(.))/g, (_, octal: string | undefined, char: string) =>
    octal === undefined ? (letters[char] ?? char) : String.fromCodePoint(Number.parseInt(octal, 8)),
  );
}

const letters: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', v: '\v', f: '\f' };
