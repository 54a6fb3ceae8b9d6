import { hash } from 'node:crypto';
import { styleText } from 'node:util';
import { maskTokens } from '../bot/token.ts';
import { botsFolder } from '../catalogue/page/layout.ts';
import type { CheckReport, Finding, ReportOptions } from '../check/check.ts';
import { runCommandLineGit } from '../git/run-git.ts';
import { escapeControls, escapeLine, formatCount } from '../lib/text.ts';

export type ReportFormat = 'text' | 'github' | 'json' | 'sarif' | 'gitlab';

/**
 * Returns the report of `check`, ending in a newline: as lines for people, GitHub annotations, or one JSON document, which
 * may be SARIF or a Code Quality report of GitLab.
 * @param stream where the lines are written; without it they have no colours
 */
export function printReport(
  report: CheckReport,
  format: ReportFormat,
  stream?: NodeJS.WritableStream,
): string {
  switch (format) {
    case 'text':
      return [
        ...report.findings.map((finding) => formatText(finding, stream)),
        formatSummary(report),
        '',
      ].join('\n');
    case 'github':
      return [
        ...report.findings.map(formatAnnotation),
        formatSummary(report),
        ...listAdvice(report),
        '',
      ].join('\n');
    case 'json':
      return `${formatJson({ files: report.files, faults: report.findings.map(toJsonFinding) })}\n`;
    case 'sarif':
      return `${formatJson(toSarif(report.findings.map(toJsonFinding)))}\n`;
    case 'gitlab':
      return `${formatJson(report.findings.map(toJsonFinding).map(toCodeQuality))}\n`;
  }
}

/** Returns a SARIF 2.1.0 log, which code scanning of GitHub and editors read. */
function toSarif(findings: readonly Finding[]): object {
  const ids = [...new Set(findings.map(({ rule }) => rule))];
  const results = findings.map(({ path, line, column, rule, severity, message }) => {
    const artifactLocation = { uri: path.split('/').map(encodeURIComponent).join('/') };
    const region = { startLine: line, startColumn: column };
    const level = severity === 'notice' ? 'note' : severity;
    const locations = [{ physicalLocation: { artifactLocation, region } }];
    return { ruleId: rule, level, message: { text: message }, locations };
  });
  const driver = { name: 'botshelf', rules: ids.map((id) => ({ id })) };
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver }, columnKind: 'utf16CodeUnits', results }],
  };
}

/** Returns an entry of a Code Quality report of GitLab. The fingerprint tells it from all others. */
function toCodeQuality({ path, line, column, rule, severity, message }: Finding): object {
  return {
    description: message,
    check_name: rule,
    fingerprint: hash('sha1', JSON.stringify([path, line, column, rule, message])),
    severity: { error: 'major', warning: 'minor', notice: 'info' }[severity],
    location: { path, lines: { begin: line } },
  };
}

/**
 * Returns a fault as `file:line:column rule message`, which editors and problem matchers can read. A path outside `bots/`
 * begins with `./`: a contributor's file name at the start of a line could be a command to the CI that prints it.
 */
export function formatText(
  { path, line, column, rule, severity, message }: Finding,
  stream?: NodeJS.WritableStream,
): string {
  const label = colour(severity, severity === 'error' ? rule : `${rule} ${severity}:`, stream);
  const below = path === botsFolder || path.startsWith(`${botsFolder}/`) ? '' : './';
  return `${below}${escapeInvisible(path)}:${line}:${column} ${label} ${escapeInvisible(message)}`;
}

/**
 * Returns a text in the colour of a severity, if `stream` is a terminal that shows colours and `NO_COLOR` is not set;
 * otherwise the text itself.
 */
export function colour(severity: keyof typeof colours, text: string, stream?: NodeJS.WritableStream): string {
  return stream === undefined ? text : styleText(colours[severity], text, { stream });
}

/** Writes a warning to standard error. */
export function warn(text: string): void {
  process.stderr.write(`${colour('warning', text, process.stderr)}\n`);
}

const colours = { error: 'red', warning: 'yellow', notice: 'cyan', ok: 'green' } as const;

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

/** Returns the faults again as lines with advice, because GitHub's log shows neither file nor line of an annotation. */
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

/** Returns a text from outside for one line of output, with tokens masked. */
export function escapeInvisible(text: string): string {
  return escapeLine(maskTokens(text));
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** Does work, and shows its progress on standard error. */
export async function withProgress<T>(work: (show: (text: string) => void) => Promise<T>): Promise<T> {
  const progress = createProgress(process.stderr);
  try {
    return await work(progress.show);
  } finally {
    progress.end();
  }
}

/**
 * Does work on files, and shows how many are done.
 * @param done the verb for a finished file, such as `checked`
 */
export async function showFiles<T>(done: string, work: (onProgress: ShowFiles) => Promise<T>): Promise<T> {
  return await withProgress(
    async (show) =>
      await work((files, share) =>
        show(`${formatCount(files, 'file')} ${done} (${Math.floor(share * 100)} %)`),
      ),
  );
}

/** Receives the number of files that are done, and the share of the work, up to 1. */
export type ShowFiles = NonNullable<ReportOptions['onProgress']>;

/** Runs git as runCommandLineGit does, and shows its own progress, which `args` ask for. */
export async function showGit(
  folder: string,
  args: readonly string[],
  options: Parameters<typeof runCommandLineGit>[2] = {},
): Promise<string> {
  return await withProgress(
    async (onProgress) => await runCommandLineGit(folder, args, { ...options, onProgress }),
  );
}

/**
 * Returns a progress line on `stream`, which is overwritten, also by a line of the log, and removed at the end. It is cut
 * to the width of the terminal. Nothing is written if the stream is not a terminal.
 */
export function createProgress(
  stream: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number },
): {
  readonly show: (text: string) => void;
  readonly end: () => void;
} {
  if (!stream.isTTY) return { show() {}, end() {} };
  let shown = Number.NEGATIVE_INFINITY;
  return {
    show: (text) => {
      const now = performance.now();
      if (now - shown < minIntervalMs) return;
      shown = now;
      stream.write(`${escapeInvisible(text).slice(0, (stream.columns || 80) - 1)}${clearRest}\r`);
    },
    end: () => {
      if (shown !== Number.NEGATIVE_INFINITY) stream.write(clearRest);
    },
  };
}

/** Milliseconds between two writes. */
const minIntervalMs = 100;

const clearRest = '\u001b[K';
