import type { CheckReport, Finding } from '../check/check.ts';
import { botsFolder } from '../catalogue/page/layout.ts';
import { maskTokens } from '../check/token-search.ts';

export const reportFormats = ['text', 'github', 'json'] as const;

export type ReportFormat = (typeof reportFormats)[number];

/** What `check` found, as text that ends in a newline: for people, as GitHub annotations, or as one JSON document. */
export function printReport(report: CheckReport, format: ReportFormat): string {
  switch (format) {
    case 'text':
      return [...report.findings.map(textLine), summary(report), ''].join('\n');
    case 'github':
      return [...report.findings.map(annotation), summary(report), ...advice(report), ''].join('\n');
    case 'json':
      return `${json({ files: report.files, faults: report.findings.map(jsonFinding) })}\n`;
  }
}

/**
 * A fault as `file:line:column rule message`, which editors and problem matchers can read. A path outside `bots/`
 * begins with `./`: a stranger's file name at the start of a line could be a command to the CI that prints it.
 */
export function textLine({ path, line, column, rule, severity, message }: Finding): string {
  const note = severity === 'error' ? '' : `${severity}: `;
  const below = path === botsFolder || path.startsWith(`${botsFolder}/`) ? '' : './';
  return `${below}${visible(path)}:${line}:${column} ${rule} ${note}${visible(message)}`;
}

/** `1 file, 2 faults`. */
export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** A workflow command; GitHub shows it beside the line. */
function annotation({ path, line, column, rule, severity, message }: Finding): string {
  const properties = `file=${property(visible(path))},line=${line},col=${column},title=${property(rule)}`;
  return `::${severity} ${properties}::${data(visible(message))}`;
}

/** A command such as `##[group]` is one in JSON too; written so it means the same to a program. */
function json(document: unknown): string {
  return JSON.stringify(document, null, 2).replaceAll(/#(?=#\w*\[)/g, String.raw`\u0023`);
}

function jsonFinding({ path, line, column, rule, severity, message }: Finding): Finding {
  return { path: maskTokens(path), line, column, rule, severity, message: maskTokens(message) };
}

function summary({ files, findings }: CheckReport): string {
  const parts = [counted(files, 'file')];
  for (const [severity, noun] of severities) {
    const number = findings.filter((finding) => finding.severity === severity).length;
    if (number > 0 || severity === 'error') parts.push(counted(number, noun));
  }
  return parts.join(', ');
}

/** For who meets the check for the first time: GitHub's own log shows neither file nor line of an annotation. */
function advice({ findings }: CheckReport): string[] {
  const faults = findings.filter(({ severity }) => severity === 'error');
  if (faults.length === 0) return [];
  return [
    '',
    'Almost there. Each line below names file, line and column, the rule, what is wrong, and what to do:',
    '',
    ...faults.map((fault) => `- ${textLine(fault)}`),
    '',
    'Mend them on the same branch and push (or edit the file on the web page): the check runs anew by itself.',
    'What each key takes is in CONTRIBUTING.md or README.md of this repository.',
  ];
}

const severities = [
  ['error', 'fault'],
  ['warning', 'warning'],
  ['notice', 'notice'],
] as const;

/**
 * A stranger's file name or value must not move the cursor, begin a line, turn the reading direction, or be a command
 * such as `##[group]`, which some CI take anywhere in a line. A token is not shown to all who can read the report.
 */
function visible(text: string): string {
  return maskTokens(text).replaceAll(
    /[\p{Cc}\p{Bidi_Control}\u2028\u2029]|#(?=#\w*\[)/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
