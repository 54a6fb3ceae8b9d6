import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Change, contentAfter, type Inode, newInode, readInode, setNames, type Step } from './inode.ts';
import { type Argument, type Call, readCalls } from './strace.ts';

interface Descriptor {
  readonly inode: Inode;
  offset: number;
  readonly appends: boolean;
  readonly syncs: boolean;
}

interface Start {
  readonly since: number;
  readonly inode: Inode | undefined;
}

/** The folder of a traced service: what it was at the begin, and the steps that the service and its gits made. */
export class DiskModel {
  readonly root: Inode;
  readonly steps: Step[] = [];
  readonly #path: string;
  readonly #descriptors = new Map<string, Descriptor>();

  /**
   * @param before a copy of the folder before the service started
   * @param trace the trace of the service
   * @param path the path of the folder
   */
  constructor(before: string, trace: string, path: string) {
    this.root = readInode(before);
    this.#path = path;
    const begin = (at: string | undefined): Start => ({
      since: this.steps.length,
      inode: at === undefined ? undefined : this.#find(at),
    });
    for (const call of readCalls(trace, path, process.cwd(), begin)) this.#apply(call);
  }

  #apply(call: Call<Start>): void {
    const { name, args, result, text, start } = call;
    const [first, second, third, fourth] = args;
    // A string is a path below the descriptor before it, or else below the folder of the process.
    const [path = '', other = ''] = args.flatMap((arg, i) =>
      arg.text.startsWith('"') ? [resolve(args[i - 1]?.path ?? call.process.folder, utf8(arg))] : [],
    );
    switch (name.replace(/(?<=rename|link|mkdir|fchmod)at2?$/, '')) {
      case 'chdir':
        call.process.folder = path;
        break;
      case 'fchdir':
        call.process.folder = first?.path ?? '';
        break;
      case 'open':
      case 'creat':
      case 'openat':
        this.#open(call);
        break;
      case 'read':
        this.#move(call, (descriptor) => descriptor.offset + result);
        break;
      case 'lseek':
        this.#move(call, () => result);
        break;
      case 'write':
      case 'writev':
        this.#write(call, second?.bytes ?? '');
        break;
      case 'pwrite64':
      case 'pwritev':
        this.#write(call, second?.bytes ?? '', Number(fourth?.text));
        break;
      case 'sendfile':
        this.#copy(call, second, third, first);
        break;
      case 'copy_file_range':
        this.#copy(call, first, second, third);
        break;
      case 'ioctl': {
        const source = this.#descriptors.get(`${call.process.id} ${third?.text}`)?.inode;
        if (source && second?.text.includes('FICLONE')) this.#write(call, this.#contentNow(source), 0);
        break;
      }
      case 'truncate':
        this.#resize(this.#find(path), Number(second?.text), text);
        break;
      case 'ftruncate':
        this.#resize(start.inode, Number(second?.text), text);
        break;
      case 'fallocate':
        if (start.inode && second?.text === '0')
          this.#resize(
            start.inode,
            Math.max(start.inode.size, Number(third?.text) + Number(fourth?.text)),
            text,
          );
        break;
      case 'chmod':
      case 'fchmod': {
        const inode = this.#find(path) ?? start.inode;
        const mode = args.find((arg) => /^0[0-7]+$/.test(arg.text))?.text;
        if (inode && mode !== undefined) inode.mode = Number.parseInt(mode, 8);
        break;
      }
      case 'mkdir':
        this.#name(path, newInode(undefined), text);
        break;
      case 'symlink':
        this.#name(other, newInode(Buffer.from(utf8(first)), 0o120777), text);
        break;
      case 'link':
        this.#name(other, this.#find(path), text);
        break;
      case 'unlink':
      case 'rmdir':
        this.#name(path, undefined, text);
        break;
      case 'rename':
        this.#rename(path, other, text);
        break;
      case 'fsync':
      case 'fdatasync':
        if (start.inode) this.steps.push({ kind: 'sync', inode: start.inode, since: start.since, text });
        break;
      case 'sync':
      case 'syncfs':
        this.steps.push({ kind: 'sync', inode: undefined, since: start.since, text });
        break;
    }
  }

  #open({ process, name, args, result, path = '', text }: Call<Start>): void {
    const flags = args[name === 'openat' ? 2 : 1]?.text ?? '';
    let inode = this.#find(path);
    if (inode === undefined && (name === 'creat' || flags.includes('O_CREAT'))) {
      const mode = Number.parseInt(args.at(-1)?.text ?? '', 8);
      this.#name(path, (inode = newInode(Buffer.alloc(0), mode & ~umask)), text);
    }
    if (inode === undefined) return;
    if ((name === 'creat' || flags.includes('O_TRUNC')) && inode.size > 0) this.#resize(inode, 0, text);
    const [appends, syncs] = [flags.includes('O_APPEND'), /O_D?SYNC/.test(flags)];
    this.#descriptors.set(`${process.id} ${result}`, { inode, offset: 0, appends, syncs });
  }

  /** The descriptor of a call. One that the process was given, rather than opened, is at the end of its file. */
  #descriptor({ process, args, start: { inode } }: Call<Start>): Descriptor | undefined {
    if (inode === undefined) return undefined;
    const key = `${process.id} ${Number.parseInt(args[0]?.text ?? '', 10)}`;
    let found = this.#descriptors.get(key);
    if (found?.inode !== inode) {
      found = { inode, offset: inode.size, appends: false, syncs: false };
      this.#descriptors.set(key, found);
    }
    return found;
  }

  #move(call: Call<Start>, offset: (descriptor: Descriptor) => number): void {
    const descriptor = this.#descriptor(call);
    if (descriptor) descriptor.offset = offset(descriptor);
  }

  #write(call: Call<Start>, data: string, at?: number): void {
    const { result, text, start } = call;
    const response = /^HTTP\/1\.1 200 .*?\r\n\r\n(.*)$/s.exec(data);
    if (response && start.inode === undefined)
      this.steps.push({ kind: 'response', body: response[1] ?? '', text });
    const descriptor = this.#descriptor(call);
    if (descriptor === undefined) return;
    const { inode } = descriptor;
    const bytes = Buffer.from(call.name === 'ioctl' ? data : data.slice(0, result), 'latin1');
    const offset = at ?? (descriptor.appends ? inode.size : descriptor.offset);
    if (at === undefined) descriptor.offset = offset + bytes.length;
    inode.size = Math.max(inode.size, offset + bytes.length);
    this.steps.push({ kind: 'write', inode, offset, bytes, text });
    if (descriptor.syncs) this.steps.push({ kind: 'sync', inode, since: this.steps.length, text });
  }

  #copy(
    call: Call<Start>,
    from: Argument | undefined,
    offset: Argument | undefined,
    to: Argument | undefined,
  ): void {
    const source = this.#find(from?.path ?? '');
    const inode = this.#find(to?.path ?? '');
    if (!from?.path || !inode || !to) return;
    // A file outside of the folder, such as a template, stays as it is.
    const content = source ? this.#contentNow(source) : readFileSync(from.path, 'latin1');
    const data = content.slice(Number(/\[(\d+)\]/.exec(offset?.text ?? '')?.[1] ?? 0));
    this.#write({ ...call, args: [to], start: { ...call.start, inode } }, data);
  }

  #resize(inode: Inode | undefined, size: number, text: string): void {
    if (inode === undefined) return;
    inode.size = size;
    this.steps.push({ kind: 'resize', inode, size, text });
  }

  #rename(from: string, to: string, text: string): void {
    const inode = this.#find(from);
    if (inode === undefined) return;
    const [source, oldName] = this.#split(from) ?? [];
    const [target, newName] = this.#split(to) ?? [];
    if (source && source === target)
      this.#change(
        source,
        [
          [oldName ?? '', undefined],
          [newName ?? '', inode],
        ],
        text,
      );
    else {
      this.#name(to, inode, text);
      this.#name(from, undefined, text);
    }
  }

  #name(path: string, inode: Inode | undefined, text: string): void {
    const [folder, name] = this.#split(path) ?? [];
    if (folder && name !== undefined) this.#change(folder, [[name, inode]], text);
  }

  #change(inode: Inode, names: readonly (readonly [string, Inode | undefined])[], text: string): void {
    setNames(inode.names, names);
    this.steps.push({ kind: 'names', inode, names, text });
  }

  #find(path: string): Inode | undefined {
    if (path === this.#path) return this.root;
    if (!path.startsWith(`${this.#path}/`)) return undefined;
    const parts = path.slice(this.#path.length + 1).split('/');
    return parts.reduce<Inode | undefined>((inode, part) => inode?.names.get(part), this.root);
  }

  #split(path: string): [Inode, string] | undefined {
    const folder = this.#find(resolve(path, '..'));
    return folder && [folder, path.slice(path.lastIndexOf('/') + 1)];
  }

  /** Returns what was done to an inode so far. */
  changes(inode: Inode): Change[] {
    return this.steps.filter(
      (step): step is Change => step.kind !== 'response' && step.kind !== 'sync' && step.inode === inode,
    );
  }

  #contentNow(inode: Inode): string {
    return contentAfter(inode, this.changes(inode)).toString('latin1');
  }
}

const umask = process.umask();

function utf8(argument: Argument | undefined): string {
  return Buffer.from(argument?.bytes ?? '', 'latin1').toString();
}
