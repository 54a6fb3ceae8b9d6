/** Reads settings from environment variables as values of a type, and collects what is wrong with them. */
export class SettingReader {
  /** A sentence for each value that cannot be used, with the name of its variable and what it takes. */
  readonly faults: string[] = [];
  readonly #env: NodeJS.ProcessEnv;
  readonly #secrets: ReadonlyMap<string, string>;
  readonly #names = new Set<string>();

  /** @param secrets the values of variables that are not set, as they are given in files */
  constructor(env: NodeJS.ProcessEnv, secrets: ReadonlyMap<string, string>) {
    this.#env = env;
    this.#secrets = secrets;
  }

  /** The variables that were read, whether they are set or not. */
  get names(): ReadonlySet<string> {
    return this.#names;
  }

  /** Returns the value of a variable without white space around it; undefined where it is not set, or empty. */
  text(name: string): string | undefined {
    this.#names.add(name);
    const value = this.#env[name]?.trim() ?? '';
    return value === '' ? this.#secrets.get(name) : value;
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
    if (
      url &&
      /^https?:$/.test(url.protocol) &&
      basePaths.test(path) &&
      !url.search &&
      !url.hash &&
      !url.username
    ) {
      return url.origin + path;
    }
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

/** Not below /api: the rest of a path of the API, such as /bots, begins like a path of the site. */
const basePaths = /^(?!\/api(?:\/|$))(?:\/[\w.~-]+)*$/;

/** Returns a text such as `"json" or "pretty"`. */
function formatChoices(choices: readonly string[]): string {
  return new Intl.ListFormat('en', { type: 'disjunction' }).format(choices.map((one) => `"${one}"`));
}
