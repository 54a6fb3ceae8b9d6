import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Pattern {
  readonly source: string;
  readonly flags: string;
}

/** Returns the compiled files of `src/`, by their paths. */
export function readModules(): ReadonlyMap<string, string> {
  const folder = fileURLToPath(new URL('../../src/', import.meta.url));
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.js'),
  );
  return new Map(files.toSorted().map((file) => [file, readFileSync(folder + file, 'utf8')]));
}

/** Finds the literals of regular expressions in compiled JavaScript: a slash where a value can begin. */
export function scanPatterns(text: string): Pattern[] {
  return [...text.matchAll(literal)].map(([, source = '', flags = '']) => ({ source, flags }));
}

const literal =
  /(?<=(?:[(,=:[!&|?;{\n]|=>|\b(?:return|case)) *)\/(?![*/])((?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)(?![\w/])/g;

/**
 * Returns texts that a pattern may take long over, by their lengths: what matches up to a repeated part, then a few characters
 * many times, and then a character that nothing expects, or nothing.
 */
export function listAttacks({ source, flags }: Pattern): ((length: number) => string)[] {
  const { prefixes, units } = explore(source, flags.replace(/[gy]/g, ''));
  return [...prefixes].flatMap((prefix) =>
    [...new Set([...commonUnits, ...units, ...prefixes].filter(Boolean))].flatMap((unit) =>
      ['\0', '\n', ''].map(
        (end) => (length: number) => prefix + unit.repeat(Math.ceil(length / unit.length)) + end,
      ),
    ),
  );
}

const commonUnits = [' ', '\n', '\u2028', '\n ', ' a', ...'a 1 " \\" / - [ ]( < . : a.'.split(' ')];

/** Finds what a pattern matches before each of its repeated parts, and what it matches one by one. */
function explore(
  source: string,
  flags: string,
): { readonly prefixes: Set<string>; readonly units: Set<string> } {
  const prefixes = new Set(['']);
  const units = new Set<string>();
  let i = 0;

  /** Returns a short text that matches the alternatives up to a closing bracket, after `prefix`. */
  function readAlternatives(prefix: string): string {
    let first: string | undefined;
    for (;;) {
      const sample = readSequence(prefix);
      first ??= sample;
      if (source[i++] !== '|') return first;
    }
  }

  function readSequence(prefix: string): string {
    let sample = '';
    while (i < source.length && source[i] !== '|' && source[i] !== ')') {
      const part = readPart(prefix + sample);
      const [written = '', digits = '1'] = /^(?:[*+?]|\{(\d+)(?:,\d*)?\})\??/.exec(source.slice(i)) ?? [];
      i += written.length;
      if (written !== '') prefixes.add(prefix + sample);
      if (part !== '') units.add(part);
      sample += part.repeat(Math.min(100, Number(digits)));
    }
    return sample;
  }

  /** Reads a group, or what matches one character. */
  function readPart(prefix: string): string {
    const group = /^\((?:\?(?:[:=!]|<[=!]|<\w+>))?/.exec(source.slice(i))?.[0];
    if (group !== undefined) {
      i += group.length;
      const sample = readAlternatives(prefix);
      return /[=!]/.test(group) ? '' : sample;
    }
    const part =
      /^(?:\\(?:[pPu]\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[^])|\[(?:[^\]\\]|\\.)*\]|[^])/u.exec(
        source.slice(i),
      )?.[0] ?? '';
    i += part.length;
    return /^(?:[$^]|\\[bB1-9])$/.test(part) ? '' : findCharacter(part, flags);
  }

  readAlternatives('');
  return { prefixes, units };
}

/** Returns a character that a part of a pattern matches. */
function findCharacter(part: string, flags: string): string {
  const pattern = new RegExp(`^${part}$`, flags);
  return characters.find((character) => pattern.test(character)) ?? '';
}

/** Letters and digits first. */
const characters = [
  ...Array.from('a1A-_ ."/:'),
  ...Array.from({ length: 0x300 }, (_, code) => String.fromCodePoint(code)),
  ...Array.from('\u2028\u2800\ufeff\ud800\ufe0f😀天あアก한'),
];
