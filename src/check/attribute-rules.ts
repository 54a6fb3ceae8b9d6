import { quoteValue } from '../lib/quote-value.ts';
import { createFileError, toErrorFinding, type Finding } from './check.ts';

/** Whether Git reads the file at a path as attributes. */
export function hasAttributes(path: string): boolean {
  return /(?:^|\/)\.gitattributes$/i.test(path);
}

/** Bytes of a file of attributes. */
export const maxAttributesSize = 64 * 1024;

/**
 * Refuses a `.gitattributes` that makes Git run a program or rewrite files.
 * @param bytes undefined for a file that is too large
 */
export function checkAttributes(path: string, bytes: Buffer | undefined): Finding[] {
  const message = `${path} has more than ${maxAttributesSize} bytes: shorten it`;
  if (bytes === undefined) return [createFileError(path, 'git-attributes', message)];
  for (const [index, line] of bytes.toString().split('\n').entries()) {
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
