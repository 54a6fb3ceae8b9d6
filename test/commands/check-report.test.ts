import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import type { Finding } from '../../src/check/check.ts';
import { printReport, formatText } from '../../src/commands/check.ts';

const pieces =
  `::stop-commands::abc ::error\tfile=x::y ##[command]rm ##vso[task.x] ::add-mask:: bots/ bots / ./ %0A % , : #
## ###[x] - 0 section_start:1:x`
    .split(/[ \n]/)
    .concat('\n', '\r', '\r\n', '\u0085', '\u2028', '\u001b[2J', ' ', '\t', '\u202e', '1 file, 0 faults');

/** Text as somebody would choose it who wants to give the CI a command, or move its reader's cursor. */
const hostile = fc
  .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'grapheme', maxLength: 5 })), {
    maxLength: 8,
  })
  .map((parts) => parts.join(''));

const findings: fc.Arbitrary<Finding[]> = fc.array(
  fc.record({
    path: fc.oneof(
      hostile,
      hostile.map((rest) => `bots/${rest}`),
    ),
    message: hostile,
    line: fc.nat(),
    column: fc.nat(),
    rule: fc.constantFrom('enum', 'file-name', 'token'),
    severity: fc.constantFrom('error', 'warning', 'notice'),
  }),
  { maxLength: 4 },
);

function linesOf(text: string): string[] {
  return text.split(/\r\n|[\n\r]/);
}

/** The starts of lines that the report itself chooses, whatever names strangers choose. */
const ownStart =
  /^(?:::(?:error|warning|notice) file=|bots\/|bots:\d|\.\/|- (?:bots\/|bots:\d|\.\/)|\d+ files?, \d+ faults?|Almost there\. |Fix them |CONTRIBUTING\.md or |$)/;

describe('no line of a report', () => {
  for (const format of ['github', 'text'] as const)
    it(`begins with what a stranger chose, or has a command of theirs: ${format}`, () => {
      fc.assert(
        fc.property(findings, (findings) => {
          const report = printReport({ files: findings.length, findings }, format);
          const lines = linesOf(report);
          for (const line of lines) {
            match(line, ownStart);
            // oxlint-disable-next-line no-control-regex -- that is what must not be there
            ok(!/##\w*\[|[\u0000-\u001f\u007f-\u009f]/.test(line), line);
          }
          const commands = lines.filter((line) => line.trim().startsWith('::'));
          strictEqual(commands.length, format === 'github' ? findings.length : 0);
        }),
        { numRuns: 500 },
      );
    });

  it('has such a command in JSON, which says the same nevertheless', () => {
    fc.assert(
      fc.property(findings, (findings) => {
        const [report = ''] = (['json', 'sarif', 'gitlab'] as const).map((format) => {
          const printed = printReport({ files: 1, findings }, format);
          for (const line of linesOf(printed)) ok(!/##\w*\[|^\s*(?:::|#)/.test(line), line);
          return printed;
        });
        const { faults } = JSON.parse(report) as { faults: Finding[] };
        deepStrictEqual(
          faults.map(({ path, message }) => [path, message]),
          findings.map(({ path, message }) => [path, message]),
        );
      }),
    );
  });

  it('makes an annotation one about another file, line or rule', () => {
    fc.assert(
      fc.property(findings, (findings) => {
        const report = printReport({ files: 1, findings }, 'github');
        const told = linesOf(report).flatMap((line) => {
          const [, severity, at, title] =
            /^::(\w+) file=[^:,]*,line=(\d+),col=\d+,title=([\w-]+)::/.exec(line) ?? [];
          return severity === undefined ? [] : [`${severity} ${at} ${title}`];
        });
        deepStrictEqual(
          told,
          findings.map(({ severity, line, rule }) => `${severity} ${line} ${rule}`),
        );
      }),
    );
  });

  it('has an invisible character that is not escaped', () => {
    const place = { path: 'bots/001/1.en.md', line: 3, column: 11, severity: 'error' } as const;
    strictEqual(
      formatText({ ...place, rule: 'pattern', message: 'name: "\u200b\u3164" is not allowed' }),
      'bots/001/1.en.md:3:11 pattern name: "\\u200b\\u3164" is not allowed',
    );
  });
});
