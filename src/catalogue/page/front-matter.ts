import { maxDepth, type JsonFinding, readStrictJson } from '../../lib/strict-json.ts';
import { quoteValue } from './fault.ts';

/** A fault at an offset of the front matter's text. */
export interface TextFault {
  readonly offset: number;
  readonly rule: string;
  readonly message: string;
}

export type FrontMatter =
  | { readonly data: Record<string, unknown> }
  | { readonly faults: readonly TextFault[] };

/**
 * Reads front matter, or a whole file, as strict JSON. Finds duplicate keys all at once, up to a hundred.
 * @param what what the text is called in messages
 */
export function parseFrontMatter(text: string, what = 'the front matter'): FrontMatter {
  const read = readStrictJson(text);
  return 'data' in read ? read : { faults: read.findings.map((finding) => toTextFault(finding, what)) };
}

function toTextFault(finding: JsonFinding, what: string): TextFault {
  const { offset } = finding;
  switch (finding.kind) {
    case 'syntax':
      return { offset, rule: 'json', message: finding.message };
    case 'too-deep': {
      const message = `${what} is nested more than ${maxDepth} levels deep: no key needs that, make it flat`;
      return { offset, rule: 'nesting', message };
    }
    case 'not-an-object':
      return { offset, rule: 'object', message: `${what} is not an object: put the keys in { }` };
    case 'duplicate-key': {
      const message = `the key ${quoteValue(finding.key)} is here twice: keep one of them`;
      return { offset, rule: 'duplicate-key', message };
    }
  }
}
