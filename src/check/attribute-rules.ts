import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChangedFile } from '../git/changed-files.ts';
import { readObjects } from '../git/objects/objects.ts';
import { codeOf } from '../lib/errors.ts';
import { createFileError, toErrorFinding, type Finding } from './check.ts';
import { quoteValue } from '../lib/quote-value.ts';

/**
 * Refuses a `.gitattributes` of the change that makes Git run a program or rewrite files.
 * @param describe adds to a finding of a file
 */
export async function findingsOfAttributes<File extends Pick<ChangedFile, 'path' | 'kind' | 'blob'>>(
  root: string,
  changes: readonly File[],
  describe = (_: File, finding: Finding): Finding => finding,
): Promise<Finding[]> {
  const files = changes.filter(({ path, kind }) => kind === 'file' && /(?:^|\/)\.gitattributes$/i.test(path));
  const blobs = await readObjects(
    root,
    files.flatMap(({ blob }) => blob ?? []),
    maxSize,
  );
  return files.flatMap((file) => {
    const { path, blob } = file;
    const bytes = blob === null ? readOnDisk(join(root, path)) : blobs.get(blob);
    const message = `${path} has more than ${maxSize} bytes: shorten it`;
    const findings = bytes
      ? refuseDrivers(path, bytes.toString())
      : [createFileError(path, 'git-attributes', message)];
    return findings.map((finding) => describe(file, finding));
  });
}

const maxSize = 64 * 1024;

/** Returns undefined for a file that is too large, and no bytes for one that cannot be read. */
function readOnDisk(path: string): Buffer | undefined {
  try {
    const bytes = readFileSync(path);
    return bytes.length > maxSize ? undefined : bytes;
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return Buffer.alloc(0);
  }
}

function refuseDrivers(path: string, text: string): Finding[] {
  for (const [index, line] of text.split('\n').entries()) {
    const [, before = '', attribute] = driver.exec(line) ?? [];
    if (attribute === undefined) continue;
    const message = `${quoteValue(attribute)} makes Git run a program or rewrite files: remove it; text, eol and binary are fine`;
    const place = { line: index + 1, column: before.length + 1 };
    return [toErrorFinding({ path, ...place, rule: 'git-attributes', message })];
  }
  return [];
}

/**
 * After the pattern of a line that is no comment, which Git ends at a NUL. Blanks are only these three, and no blank is needed
 * after a quoted pattern. The name of a driver refers to the Git configuration of each clone, as git-lfs's does.
 */
const driver =
  /^([ \t\r]*[^ \t\r#\0][^\0]*?[ \t\r"])((?:filter|diff|merge)=[^ \t\r\0]+|working-tree-encoding(?:=[^ \t\r\0]+)?|ident)(?=[ \t\r\0]|$)/;
