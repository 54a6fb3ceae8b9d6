import type { Editor, FileEdit } from '../../src/git/branch/committer.ts';

/** A change that sets one key of a file whose lines are `key: value`. */
export interface KeyEdit extends FileEdit {
  readonly key: string;
  readonly value: string | number;
  /** Whether it creates a missing file. */
  readonly creates?: boolean;
}

export const keyEditor: Editor<KeyEdit> = {
  edit: (text, { key, value, creates }) => withKey(creates ? (text ?? '') : text, key, value),
  describe: (edits) => `Set ${edits.map(({ key }) => key).join(', ')}\n`,
};

export function setKey(path: string, key: string, value: string | number): KeyEdit {
  return { path, key, value };
}

/** A text of lines `key: value` with one key set; other lines stay as they are. */
export function withKey(current: string | null, key: string, value: string | number): string {
  if (current === null) throw new Error('there is no such file');
  if (current.includes('<<<<<<<')) throw new Error('the file is in conflict');
  const line = new RegExp(`^${key}: .*$`, 'm');
  const wanted = `${key}: ${value}`;
  return line.test(current) ? current.replace(line, wanted) : `${current}${wanted}\n`;
}
