import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A program that reads every file in the folders of a folder once, one folder after the other, and does nothing else. */
const [top = '', way] = process.argv.slice(2);
for (const name of readdirSync(top)) {
  const folder = join(top, name);
  const files = readdirSync(folder).map((file) => join(folder, file));
  if (way === 'readFileSync') for (const file of files) readFileSync(file);
  else await Promise.all(files.map(async (file) => await readFile(file)));
}
