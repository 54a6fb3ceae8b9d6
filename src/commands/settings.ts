import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { listSettingsInForce } from '../app/config.ts';

/**
 * Prints each setting of the service with its default and its meaning, as docs/configuration.md has them, and with the value
 * that is in force here.
 */
export function listSettings(): void {
  const file = fileURLToPath(new URL('docs/configuration.md', import.meta.resolve('#package')));
  const entries = readFileSync(file, 'utf8').matchAll(/^- `([A-Z_]+)`, (.+(?:\n {2}.+)*)/gm);
  const inForce = listSettingsInForce();
  for (const [, name = '', text = ''] of entries) {
    const { value, source } = inForce.get(name) ?? {};
    const now = value === undefined ? 'the default' : `${value}, from ${source}`;
    process.stdout.write(`${name}\n  ${text.replaceAll(/\]\([^)]*\)|[`[]/g, '')}\n  now: ${now}\n`);
  }
}
