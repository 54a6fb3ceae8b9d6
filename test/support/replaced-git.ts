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

/**
 * A script for replaceGit: the first git begins once all of its input is in the file `input` and the process that has
 * started it is gone.
 */
export function goOnAlone(input: string): string {
  return `if [ ! -e ${input} ]; then
cat > ${input}.part; mv ${input}.part ${input}
while kill -0 $PPID 2>/dev/null; do sleep 0.01; done; sleep 0.1; exec git "$@" < ${input} > /dev/null
fi`;
}
