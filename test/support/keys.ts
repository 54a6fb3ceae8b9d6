import type { TextEdit } from '../../src/git/commit/batch-plan.ts';

/** A change that sets one key of a file whose lines are `key: value`. */
export function setKey(path: string, key: string, value: string | number): TextEdit {
  return {
    path,
    subject: { name: 'Homer', id: '190519304972663312', keys: [key] },
    apply: (current) => withKey(current, key, value),
  };
}

/** A text of lines `key: value` with one key set; other lines stay as they are. */
export function withKey(current: string | null, key: string, value: string | number): string {
  if (current === null) throw new Error('there is no such file');
  if (current.includes('<<<<<<<')) throw new Error('the file is in conflict');
  const line = new RegExp(`^${key}: .*$`, 'm');
  const wanted = `${key}: ${value}`;
  return line.test(current) ? current.replace(line, wanted) : `${current}${wanted}\n`;
}
