import { maskTokens } from '../bot/token.ts';
import { botsFolder } from '../catalogue/page/layout.ts';
import type { CheckReport, Finding } from '../check/check.ts';
import { escapeControls, escapeLine, formatCount } from '../lib/text.ts';

export type ReportFormat = 'text' | 'github' | 'json';

/** Returns the report of `check`, ending in a newline: as lines for people, GitHub annotations, or one JSON document. */
export function printReport(report: CheckReport, format: ReportFormat): string {
  switch (format) {
    case 'text':
      return [...report.findings.map(formatText), formatSummary(report), ''].join('\n');
    case 'github':
      return [
        ...report.findings.map(formatAnnotation),
        formatSummary(report),
        ...listAdvice(report),
        '',
      ].join('\n');
    case 'json':
      return `${formatJson({ files: report.files, faults: report.findings.map(toJsonFinding) })}\n`;
  }
}

/**
 * Returns a fault as `file:line:column rule message`, which editors and problem matchers can read. A path outside `bots/`
 * begins with `./`: a contributor's file name at the start of a line could be a command to the CI that prints it.
 */
export function formatText({ path, line, column, rule, severity, message }: Finding): string {
  const note = severity === 'error' ? '' : `${severity}: `;
  const below = path === botsFolder || path.startsWith(`${botsFolder}/`) ? '' : './';
  return `${below}${escapeInvisible(path)}:${line}:${column} ${rule} ${note}${escapeInvisible(message)}`;
}

/** Returns a workflow command, which GitHub shows next to the line. */
function formatAnnotation({ path, line, column, rule, severity, message }: Finding): string {
  const properties = `file=${escapeProperty(escapeInvisible(path))},line=${line},col=${column},title=${escapeProperty(rule)}`;
  return `::${severity} ${properties}::${escapeData(escapeInvisible(message))}`;
}

/** Returns JSON that says the same, and is safe to print. */
export function formatJson(document: unknown, space = 2): string {
  return escapeControls(JSON.stringify(document, null, space));
}

function toJsonFinding({ path, line, column, rule, severity, message }: Finding): Finding {
  return { path: maskTokens(path), line, column, rule, severity, message: maskTokens(message) };
}

function formatSummary({ files, findings }: CheckReport): string {
  const parts = [formatCount(files, 'file')];
  for (const [severity, noun] of severities) {
    const number = findings.filter((finding) => finding.severity === severity).length;
    if (number > 0 || severity === 'error') parts.push(formatCount(number, noun));
  }
  return parts.join(', ');
}

/** Returns the faults again as lines with advice, as GitHub's log shows neither file nor line of an annotation. */
function listAdvice({ findings }: CheckReport): string[] {
  const faults = findings.filter(({ severity }) => severity === 'error');
  if (faults.length === 0) return [];
  return [
    '',
    'Almost there. Each line below has file, line and column, the rule, what is wrong, and what to do:',
    '',
    ...faults.map((fault) => `- ${formatText(fault)}`),
    '',
    'Fix them on the same branch and push (or edit the file on the web page): the check runs again by itself.',
    'CONTRIBUTING.md or README.md of this repository lists the keys and their values.',
  ];
}

const severities = [
  ['error', 'fault'],
  ['warning', 'warning'],
  ['notice', 'notice'],
] as const;

/** Returns a text from outside as a line has it, with tokens masked. */
export function escapeInvisible(text: string): string {
  return escapeLine(maskTokens(text));
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/**
 * Does work on files, and shows on standard error how many are done.
 * @param done what is done with them, such as `checked`
 */
export async function showFiles<T>(
  done: string,
  work: (onProgress: (files: number) => void) => Promise<T>,
): Promise<T> {
  const progress = createProgress(process.stderr);
  try {
    return await work((files) => progress.show(`${formatCount(files, 'file')} ${done}`));
  } finally {
    progress.end();
  }
}

/**
 * Returns a progress line on `stream`, which is overwritten, also by a line of the log, and removed at the end. Nothing is written when that is not a
 * terminal.
 */
export function createProgress(stream: NodeJS.WritableStream & { readonly isTTY?: boolean }): {
  show(text: string): void;
  end(): void;
} {
  if (!stream.isTTY) return { show() {}, end() {} };
  let shown = Number.NEGATIVE_INFINITY;
  return {
    show: (text) => {
      const now = performance.now();
      if (now - shown < minIntervalMs) return;
      shown = now;
      stream.write(`${text}${clearRest}\r`);
    },
    end: () => {
      if (shown !== Number.NEGATIVE_INFINITY) stream.write(clearRest);
    },
  };
}

/** Milliseconds between two writes. */
const minIntervalMs = 100;

const clearRest = '\u001b[K';
