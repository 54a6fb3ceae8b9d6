import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Prints each setting of the service with its default and its meaning, as docs/configuration.md has them. */
export function listSettings(): void {
  const file = fileURLToPath(new URL('docs/configuration.md', import.meta.resolve('#package')));
  const entries = readFileSync(file, 'utf8').matchAll(/^- `([A-Z_]+)`, (.+(?:\n {2}.+)*)/gm);
  for (const [, name, text = ''] of entries) {
    process.stdout.write(`${name}\n  ${text.replaceAll(/\]\([^)]*\)|[`[]/g, '')}\n`);
  }
}
