import { writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { tempFolder } from './temp-folder.ts';

/**
 * Has the shell run `script` in place of each git of a command such as `fast-import`; its arguments are `"$@"`. Returns what
 * takes it back.
 */
export function replaceGit(command: string, script: string): () => void {
  const bin = tempFolder();
  const found = process.env['PATH'] ?? '';
  const text = `#!/bin/sh
PATH='${found}'
case "$*" in *${command}*) ${script} ;; esac
exec git "$@"
`;
  writeFileSync(join(bin, 'git'), text, { mode: 0o755 });
  process.env['PATH'] = [bin, found].join(delimiter);
  return () => {
    process.env['PATH'] = found;
  };
}
