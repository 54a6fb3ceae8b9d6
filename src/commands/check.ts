import { hash } from 'node:crypto';
import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { readCommandConfig } from '../app/config.ts';
import { maskTokens } from '../bot/token.ts';
import { botsFolder } from '../catalogue/page/layout.ts';
import { ensureValid } from '../catalogue/page/side-file.ts';
import { readBlocked, blockedName } from '../catalogue/settings/blocked.ts';
import { settingsName } from '../catalogue/settings/settings.ts';
import { checkChanges } from '../check/check-changes.ts';
import { checkInThreads, type CheckReport, type Finding, type Scope, createScope } from '../check/check.ts';
import { UserError, codeOf } from '../lib/errors.ts';
import { formatCount } from '../lib/text.ts';
import { colour, escapeInvisible, formatJson, showFiles } from './output.ts';

export interface CheckFlags {
  readonly base?: string;
  readonly head?: string;
  /** The remote that `head` is fetched from. */
  readonly fetch?: string;
  readonly format: 'text' | 'github' | 'json' | 'sarif' | 'gitlab';
}

/** Checks the catalogue and prints the report; the exit code is 1 when it has errors. @throws {UserError} */
export async function check(paths: string[], { base, head, fetch, format }: CheckFlags): Promise<void> {
  const { catalogue: root, blocked: blockedFile } = readCommandConfig();
  if (head !== undefined && base === undefined)
    throw new UserError('--head needs --base: name the revision to compare it with');
  if (fetch !== undefined && head === undefined)
    throw new UserError('--fetch needs --head: name the commit to fetch');
  // A clone without a work tree has a catalogue too, in its commits.
  const scope = head !== undefined && paths.length === 0 ? 'everything' : toScope(root, paths);
  // The reasons are for maintainers, and a check of a pull request is public.
  const privateBlocked = blockedFile === null ? undefined : ensureValid(readBlocked(root, blockedFile));
  const report = await showFiles('checked', async (onProgress) =>
    base === undefined
      ? await checkInThreads(root, scope, { onProgress, privateBlocked })
      : await checkChanges(root, { base, head, from: fetch }, scope, { onProgress, privateBlocked }),
  );
  process.stdout.write(printReport(report, format, process.stdout));
  if (report.findings.some(({ severity }) => severity === 'error')) process.exitCode = 1;
}

/**
 * Returns the part of the catalogue below `root` that the paths of a command line name; everything without paths, or
 * with the settings among them, because their rules are about every bot.
 * @param paths absolute, or relative to the current folder
 * @throws {UserError} when a path does not exist or is not in the catalogue, or when there is no catalogue
 */
export function toScope(root: string, paths: readonly string[]): Scope {
  const bots = join(root, botsFolder);
  if (!isThere(bots))
    throw new UserError(`${bots} does not exist: set BOTSHELF_CATALOGUE to the folder that holds bots/`);
  if (paths.length === 0) return 'everything';
  const realRoot = realpathSync(root);
  return createScope(paths.map((path) => toCataloguePath(realRoot, path)));
}

/** Returns the path relative to the catalogue's folder, with `/`. A link as the last part is not followed. */
function toCataloguePath(root: string, path: string): string {
  const absolute = resolve(path);
  if (path === '' || !isThere(absolute))
    throw new UserError(`${JSON.stringify(path)} does not exist: pass a file or folder of the catalogue`);
  const real = join(realpathSync(dirname(absolute)), basename(absolute));
  const below = relative(root, real).replaceAll(sep, '/');
  if (below === '' || below === settingsName || below === blockedName) return botsFolder;
  if (below === botsFolder || below.startsWith(`${botsFolder}/`)) return below;
  throw new UserError(
    `${JSON.stringify(path)} is not in the catalogue: pass a path below ${join(root, botsFolder)}`,
  );
}

/** Whether there is a file, a folder or a link. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // A parent of the path is a file.
    if (codeOf(error) === 'ENOTDIR') return false;
    throw error;
  }
}

/**
 * Returns the report of `check`, ending in a newline: as lines for people, GitHub annotations, or one JSON document, which
 * may be SARIF or a Code Quality report of GitLab.
 * @param stream where the lines are written; without it they have no colours
 */
export function printReport(
  report: CheckReport,
  format: CheckFlags['format'],
  stream?: NodeJS.WritableStream,
): string {
  const { files, findings } = report;
  if (format === 'text')
    return printLines([...findings.map((finding) => formatText(finding, stream)), formatSummary(report)]);
  if (format === 'github')
    return printLines([...findings.map(formatAnnotation), formatSummary(report), ...listAdvice(report)]);
  const faults = findings.map(toJsonFinding);
  const documents = { json: { files, faults }, sarif: toSarif(faults), gitlab: faults.map(toCodeQuality) };
  return `${formatJson(documents[format])}\n`;
}

function printLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
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

/** Returns a workflow command, which GitHub shows next to the line. */
function formatAnnotation({ path, line, column, rule, severity, message }: Finding): string {
  const properties = `file=${escapeProperty(escapeInvisible(path))},line=${line},col=${column},title=${escapeProperty(rule)}`;
  return `::${severity} ${properties}::${escapeData(escapeInvisible(message))}`;
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

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
