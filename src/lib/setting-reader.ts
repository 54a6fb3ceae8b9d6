import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from './errors.ts';

/** Reads settings from environment variables as values of a type, and collects what is wrong with them. */
export class SettingReader {
  /** A sentence for each value that cannot be used, with the name of its variable and what it takes. */
  readonly faults: string[] = [];
  /** A sentence for each file of a secret that cannot be used: to `faults` that secret is missing. */
  readonly fileFaults: string[] = [];
  /** A sentence for each secret that other settings need, and that is not set. */
  readonly missing: string[] = [];
  readonly #env: NodeJS.ProcessEnv;
  readonly #secrets = new Map<string, string>();
  /** The source of each secret. */
  readonly #secretSources = new Map<string, string>();
  readonly #names = new Set<string>();

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
  }

  /** The variables that were read, set or not. */
  get names(): ReadonlySet<string> {
    return this.#names;
  }

  /** Returns the settings that are set, by name: the value, which is "set" for a secret, and its source. */
  listInForce(): Map<string, { readonly value: string; readonly source: string }> {
    const inForce = new Map<string, { value: string; source: string }>();
    for (const name of this.#names) {
      const value = this.text(name);
      const source = this.#secretSources.get(name);
      if (source !== undefined) inForce.set(name, { value: 'set', source });
      else if (value !== undefined) inForce.set(name, { value, source: environment });
    }
    return inForce;
  }

  /** Returns the value of a variable without white space around it; undefined if it is not set, or empty. */
  text(name: string): string | undefined {
    this.#names.add(name);
    const value = this.#env[name]?.trim() ?? '';
    return value === '' ? this.#secrets.get(name) : value;
  }

  /**
   * Returns a secret: a variable, the file that `<NAME>_FILE` names, or the file `<NAME>` in the folder of systemd's
   * credentials. One newline at the end of a file is removed.
   */
  secret(name: string): string | undefined {
    const value = this.text(name);
    const path = this.text(`${name}_FILE`);
    const folder = this.#env['CREDENTIALS_DIRECTORY'];
    const credential = folder ? join(folder, name) : '';
    const given = [
      ...(value === undefined ? [] : [{ source: name }]),
      ...(path === undefined ? [] : [{ source: `${name}_FILE`, path }]),
      ...(existsSync(credential) ? [{ source: `the credential ${name} of systemd`, path: credential }] : []),
    ];
    const [first, second] = given;
    if (first) this.#secretSources.set(name, 'path' in first ? first.source : environment);
    if (first && second) {
      this.fileFaults.push(`${first.source} and ${second.source} are both set: keep one of them.`);
    } else if (first && 'path' in first) {
      try {
        this.#secrets.set(name, readSecret(first.path));
      } catch (error) {
        this.fileFaults.push(
          `${first.source} cannot be used: ${messageOf(error)}. Name a text file that the service's user can read.`,
        );
      }
    }
    return this.text(name);
  }

  integer(name: string, fallback: number, min: number, max: number): number {
    const value = this.text(name);
    if (value === undefined) return fallback;
    const number = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= min && number <= max) return number;
    this.#refuse(name, value, `a whole number from ${min} to ${max}.`);
    return fallback;
  }

  flag(name: string, fallback = false): boolean {
    const value = this.text(name)?.toLowerCase() ?? (fallback ? 'on' : 'off');
    if (['on', 'true', '1', 'yes'].includes(value)) return true;
    if (!['off', 'false', '0', 'no'].includes(value)) this.#refuse(name, value, '"on" or "off".');
    return false;
  }

  choice<const T extends string>(name: string, choices: readonly T[]): T | undefined {
    const value = this.text(name)?.toLowerCase();
    const chosen = choices.find((one) => one === value);
    if (value !== undefined && chosen === undefined) this.#refuse(name, value, `${formatChoices(choices)}.`);
    return chosen;
  }

  /** Returns an http or https address, which may have a path, without a slash at its end. */
  address(name: string, fallback: string): string {
    const value = this.text(name);
    if (value === undefined) return fallback;
    const url = URL.canParse(value) ? new URL(value) : undefined;
    const path = url?.pathname.replace(/\/$/, '') ?? '';
    const isPlain = url && !url.search && !url.hash && !url.username;
    if (isPlain && /^https?:$/.test(url.protocol) && basePaths.test(path)) return url.origin + path;
    this.#refuse(
      name,
      value,
      'an address such as https://bots.example.org or https://example.org/bots; names in its path have letters, digits, "-", "_", "." and "~" only, and the first is not "api".',
    );
    return fallback;
  }

  #refuse(name: string, value: string, advice: string): void {
    this.faults.push(`${name} is ${JSON.stringify(value)}: set it to ${advice}`);
  }
}

const environment = 'the environment';

/**
 * Parses a file of variables as systemd reads an `EnvironmentFile`: systemd.exec(5). Lines without a name that a variable
 * can have are skipped.
 * @param skip called with the number of each skipped line
 */
export function parseEnvironmentFile(
  text: string,
  skip: (line: number) => void = () => {},
): Readonly<Record<string, string>> {
  const variables: Record<string, string> = {};
  let [line, end] = [1, 0];
  for (const match of text.matchAll(assignments)) {
    const [, name = '', quoted, escaped = '', rest = ''] = match;
    if (name.trim() === '' && quoted === undefined) continue;
    if (quoted === undefined || !/^[A-Za-z_]\w*$/.test(name.trim())) {
      line += text.slice(end, match.index).split('\n').length - 1;
      end = match.index;
      skip(line);
      continue;
    }
    const unquoted = quoted.replaceAll(quotes, (_, single = '', double = '') =>
      String(single || double.replaceAll(/\\(?:\n|(["\\`$]))/g, '$1')),
    );
    variables[name.trim()] = unquoted + escaped.replaceAll(/\\(?:[\r\n]|([^]))/g, '$1') + rest.trimEnd();
  }
  return variables;
}

/** A comment, or a name with its value: parts in quotes, the rest up to its last backslash, and the text after that. */
const assignments =
  /[ \t]*[#;][^\r\n]*|([^\r\n][^=\r\n]*)(?:=((?:[ \t]*(?:'[^']*'?|"(?:[^"\\]|\\[^])*"?))*)[ \t]*((?:[^\\\r\n]*\\[^])*)([^\\\r\n]*))?/g;

const quotes = /'([^']*)'?|"((?:[^"\\]|\\[^])*)"?|[ \t]+/g;

/** Not below /api: the rest of a path of the API, such as /bots, begins like a path of the site. */
const basePaths = /^(?!\/api(?:\/|$))(?:\/[\w.~-]+)*$/;

/** Returns a text such as `"json" or "pretty"`. */
function formatChoices(choices: readonly string[]): string {
  return new Intl.ListFormat('en', { type: 'disjunction' }).format(choices.map((one) => `"${one}"`));
}

/** @throws {Error} if the file cannot be read, is too large, or is not text */
function readSecret(path: string): string {
  // Opening a pipe would wait for its writer.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile()) throw new Error(`${path} is not a file`);
    const bytes = Buffer.alloc(maxSecretBytes + 1);
    const length = readSync(file, bytes, 0, bytes.length, 0);
    if (length > maxSecretBytes) throw new Error(`${path} has more than ${maxSecretBytes} bytes`);
    const text = new TextDecoder('utf-8', { fatal: true })
      .decode(bytes.subarray(0, length))
      .replace(/\r?\n$/, '');
    if (text.trim() === '') throw new Error(`${path} is empty`);
    if (text.includes('\0')) throw new Error(`${path} is not a text file`);
    return text;
  } catch (error) {
    throw error instanceof TypeError ? new Error(`${path} is not UTF-8`, { cause: error }) : error;
  } finally {
    closeSync(file);
  }
}

const maxSecretBytes = 16_384;
