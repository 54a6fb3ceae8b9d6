import { deepest, type JsonFinding, readStrictJson } from '../../json/strict-json.ts';
import { quoted } from './fault.ts';

/** A fault at an offset of the front matter's text. */
export interface TextFault {
  readonly offset: number;
  readonly rule: string;
  readonly message: string;
}

export type FrontMatter =
  | { readonly data: Record<string, unknown> }
  | { readonly faults: readonly TextFault[] };

/** Reads front matter as strict JSON. Finds duplicate keys all at once, up to a hundred. */
export function parseFrontMatter(text: string): FrontMatter {
  const read = readStrictJson(text);
  return 'data' in read ? read : { faults: read.findings.map(faultOf) };
}

function faultOf(finding: JsonFinding): TextFault {
  const { offset } = finding;
  switch (finding.kind) {
    case 'syntax':
      return { offset, rule: 'json', message: finding.message };
    case 'too-deep': {
      const message = `the front matter is nested more than ${deepest} levels deep: no key needs that, make it flat`;
      return { offset, rule: 'nesting', message };
    }
    case 'not-an-object':
      return { offset, rule: 'object', message: 'the front matter is not an object: put the keys in { }' };
    case 'duplicate-key': {
      const message = `the key ${quoted(finding.key)} is here twice: keep one of them`;
      return { offset, rule: 'duplicate-key', message };
    }
  }
}
