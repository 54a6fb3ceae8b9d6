import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { eventually } from '../../support/eventually.ts';
import type { TestRepository } from '../../support/repository.ts';
import { pagePath } from '../../support/sample.ts';
import { read, readValues } from './actors.ts';
import { explanations } from './explanations.ts';
import * as models from './models.ts';
import { allBots, machineCount, type Plan, stayingBots } from './plan.ts';
import { describeEvent, type Event } from './recorder.ts';
import { endMachine, firstValues, type Machine, startMachine, type World } from './world.ts';
import { updateRequest } from '../../support/token.ts';

/** A violation of a model, with the bot that it is about, if any. */
export interface Fault {
  readonly what: string;
  readonly bot?: string;
}

const allRefs = 'refs/heads/main refs/botshelf/state refs/botshelf/proposals refs/botshelf/closed'.split(' ');
const sharedRefs = ['for-each-ref', '--format=%(refname) %(objectname)', ...allRefs];

/** Waits until all machines are in step with the remote and serve the same. */
export async function settle(world: World): Promise<void> {
  const { machines, shared, troubles, rewrites } = world;
  // A count that was posted by a clock that was ahead is named until the owner posts the next one.
  const isKnown = (fault: unknown): boolean =>
    (troubles.some(({ kind }) => kind === 'clock') && /ahead of this machine's clock/.test(String(fault))) ||
    (rewrites.length > 0 && /the remote's branch was rewritten/.test(String(fault)));
  for (const machine of machines) {
    if (machine.clockDays === 0) continue;
    await endMachine(machine, 'SIGTERM');
    machine.clockDays = 0;
    await startMachine(machine);
  }
  await eventually(async () => {
    const states = await Promise.all(machines.map(async (machine) => await readEndState(machine, isKnown)));
    const differences = models.findDifferences(shared.git(...sharedRefs), states);
    if (differences.length > 0) throw new Error(differences.join('\n'));
  }, 180);
}

async function readEndState(
  { clone, service }: Machine,
  isKnown: (fault: unknown) => boolean,
): Promise<models.EndState> {
  // Connections that stay open would count among the files of the service.
  const headers = { connection: 'close' };
  const get = async (path: string): Promise<Response> =>
    await fetch(`${service?.address}${path}`, { headers });
  const paths = [
    '/api/v2/bots',
    '/api/v1/bots',
    '/api/v2/counts',
    '/api/v2/bots?sort=-count',
    ...allBots.map((bot) => `/api/v2/bots/${bot}`),
  ];
  const responses = paths.map(async (path) => [path, await (await get(path)).text()] as const);
  const ready = await get('/readyz');
  const { parts } = (await ready.json()) as { parts: Record<string, { faults?: readonly unknown[] }> };
  return {
    refs: clone.git(...sharedRefs),
    uncommitted: clone.status(),
    readiness: ready.status,
    faults: Object.values(parts).flatMap(({ faults = [] }) => faults.filter((fault) => !isKnown(fault))),
    responses: new Map(await Promise.all(responses)),
  };
}

/** Reads every value at each machine once more, and tries every token. */
export async function look(world: World): Promise<void> {
  const { machines, recorder, tokens } = world;
  const looks = machines.flatMap(({ index, address }) => [
    ...(['read', 'read-count'] as const).flatMap((what) =>
      allBots.map(async (bot) => await read(world, { actor: 'the end', do: what, machine: index, bot })),
    ),
    // One after the other: only so many unknown ones may wait for a fetch.
    ...[...tokens].map(async ([bot, all]) => {
      for (const token of all) {
        const about = { actor: 'the end', what: 'try a token', machine: index, bot };
        await recorder.record(about, async () => {
          const { status } = await fetch(`${address}/api/v2/bots/${bot}`, updateRequest(token, {}));
          if (status === 401) return { status, outcome: 'refused', not: { token } };
          // A change of nothing is refused, with a token that is valid.
          return { status, outcome: 'done', seen: status === 422 ? { token } : {} };
        });
      }
    }),
  ]);
  await Promise.all(looks);
}

/** Stops all machines, and returns what they leave behind that should not be there. */
export async function stop({ machines, shared }: World): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const machine of machines) {
    const { clone, index } = machine;
    await endMachine(machine, 'SIGTERM');
    const environ = `BOTSHELF_CATALOGUE=${clone.folder}`;
    const left = models.findLeftovers({
      files: readdirSync(clone.folder, { recursive: true, encoding: 'utf8' }),
      worktrees: clone.git('worktree', 'list'),
      broken: checkRepository(clone) + checkRepository(shared),
      processes: readdirSync('/proc')
        .filter((pid) => readOr(`/proc/${pid}/environ`).split('\0').includes(environ))
        .map((pid) => readOr(`/proc/${pid}/cmdline`)),
    });
    for (const what of left) faults.push({ what: `machine ${index} leaves ${what}` });
  }
  return faults;
}

function checkRepository({ git }: Pick<TestRepository, 'git'>): string {
  try {
    git('fsck', '--strict', '--no-dangling');
    return '';
  } catch (error) {
    return String(error);
  }
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** The resources that a service holds. */
export interface Holdings {
  readonly pid: number;
  readonly files: number;
  readonly megabytes: number;
  /** Of what JavaScript uses. */
  readonly heap: number;
}

/**
 * Measures the service of a machine; undefined where it is being started again. Only the machine that rests at the end
 * is measured, because the others are killed too often to grow.
 */
export async function measure({ service }: Machine): Promise<Holdings | undefined> {
  const pid = service?.process.pid;
  if (pid === undefined) return undefined;
  const response = await fetch(`${service?.address}/metrics`, { headers: { connection: 'close' } });
  const heap = Number(/^nodejs_heap_size_used_bytes (\S+)/m.exec(await response.text())?.[1]) / 2 ** 20;
  const megabytes = Number(/^VmRSS:\s+(\d+)/m.exec(readOr(`/proc/${pid}/status`))?.[1]) / 1024;
  return { pid, files: readdirSync(`/proc/${pid}/fd`).length, megabytes, heap };
}

/** Holds what was recorded and what is there in the end against the models. @param checks counts what was checked */
export function judge(world: World, plan: Plan, checks: Map<string, number>): Fault[] {
  const { recorder, shared, machines } = world;
  const { events } = recorder;
  const faults: Fault[] = [];
  const count = (what: string, many = 1): void => void checks.set(what, (checks.get(what) ?? 0) + many);

  for (const event of events)
    if (event.status >= 500 && event.status !== 503)
      faults.push({ what: `a status that no request gets: ${describeEvent(event)}` });
  const rewrites = readRewrites(world);
  count('moves of a branch to what lacks a commit', rewrites.length);
  const dropped = rewrites.flatMap((rewrite) => rewrite.dropped);
  for (const { machine, dropped: lost } of models.findUnexplainedRewrites(rewrites))
    faults.push({
      what: `no force push explains that ${machine === null ? 'the remote' : `machine ${machine}`} dropped ${lost.map(({ id }) => id).join(' ')}`,
    });
  const droppedWrites = new Set(dropped.flatMap(({ writes }) => [...writes].map((write) => write.join(' '))));
  for (const { index } of machines)
    for (const bot of allBots)
      for (const key of stayingBots.includes(bot)
        ? ['website', 'support', 'count', 'token']
        : ['website', 'support', 'token']) {
        const initial = key === 'token' ? (world.tokens.get(bot)?.[0] ?? '') : firstValues[key as 'website'];
        const operations = listOperations(
          events,
          { machine: index, bot, key },
          droppedWrites,
          !plan.hasWrongClocks,
        );
        count('operations on registers', operations.length);
        const stuck = models.findUnexplained(initial, operations);
        if (stuck === 'undecided') count('registers that are undecided', 1);
        if (stuck === undefined || stuck === 'undecided') continue;
        const last = operations
          .filter(({ start }) => start <= stuck.end)
          .toSorted((a, b) => a.start - b.start)
          .map(({ label }) => label);
        const what = `${key} of bot ${bot} at machine ${index}: no order explains\n  ${stuck.label}\nafter\n  ${last.slice(-25).join('\n  ')}`;
        faults.push({ what, bot });
      }

  const commits = readCommits(shared);
  count('commits', commits.length);
  for (const bot of allBots)
    for (const key of ['website', 'support'] as const) {
      const end = events.findLast(
        (event) => event.actor === 'the end' && event.bot === bot && event.seen[key] !== undefined,
      );
      const what = models.findWrongMerge(commits, `${bot} ${key}`, end?.seen[key] ?? '');
      count('merged values');
      if (what !== undefined) faults.push({ what, bot });
    }

  const answered = events
    .filter(
      ({ outcome, what }) =>
        outcome === 'done' && ['post', 'pull', 'commit', 'command', 'accepted'].includes(what),
    )
    .flatMap((event) =>
      ['website', 'support'].flatMap((key): (Event & models.AnsweredWrite)[] => {
        const value = event.writes[key];
        return value === undefined ? [] : [{ ...event, register: `${event.bot} ${key}`, value }];
      }),
    );
  count('answered writes in the branch', answered.length);
  if (answered.length < 20) faults.push({ what: `only ${answered.length} writes of pages were answered` });
  for (const event of models.findLost(commits, answered, rewrites))
    faults.push({ what: `an answered write is in no commit: ${describeEvent(event)}`, bot: event.bot ?? '' });
  const posts = answered.filter(({ what }) => what === 'post');
  for (const event of models.findMisnamed([...commits, ...dropped], posts))
    faults.push({
      what: `an answer names ${event.commit}, which did not make the change: ${describeEvent(event)}`,
      bot: event.bot ?? '',
    });

  const deeds = events.flatMap(({ what, machine, bot, account, writes, outcome }): models.ProposalDeed[] => {
    const value = writes['proposal'];
    if (account === null || value === undefined || outcome === 'refused') return [];
    return [
      {
        what: what as models.ProposalDeed['what'],
        proposal: `${bot}/${account}`,
        value,
        isAnswered: outcome === 'done',
        isRewritten: [value, writes['website'] ?? value].some((one) =>
          models.isDropped({ machine, register: `${bot} website`, value: one }, rewrites),
        ),
      },
    ];
  });
  count('steps of proposals', deeds.length);
  const inBranch = new Set(commits.flatMap(({ writes }) => [...writes.values()]));
  const ends = { ...readProposals(shared), inBranch };
  for (const what of models.findWrongProposals(deeds, ends))
    faults.push({ what, bot: /proposal (\d+)/.exec(what)?.[1] ?? '' });

  const minutes = Math.ceil(plan.milliseconds / 60_000);
  const spared = explanations.map((one) => ({ ...one, spare: (one.spare ?? 0) * minutes }));
  for (const { index, services } of machines) {
    const lines = services.flatMap(({ service, clockDays }) =>
      service
        .log()
        .split('\n')
        .filter(isComplaint)
        .map((text) => ({ at: timeOf(text, clockDays) - recorder.startedAt, text })),
    );
    count('warnings and errors in logs', lines.length);
    const byPeople = events
      .filter(({ byGit, what }) => byGit || what === 'accepted')
      .filter(({ machine }) => (machine ?? index) === index)
      .map(({ what, start }) => ({ kind: what, start, end: Number.POSITIVE_INFINITY }));
    const troubles = [...world.troubles.filter(({ machine }) => machine === index), ...byPeople];
    for (const text of models.findUnexplainedLines(lines, troubles, spared, 60_000 * world.slowness))
      faults.push({ what: `machine ${index} logged ${text}` });
  }
  return faults;
}

function isComplaint(line: string): boolean {
  try {
    return (JSON.parse(line) as { level: number }).level >= 40;
  } catch {
    return line !== '';
  }
}

/** When a line was logged, in milliseconds since the epoch; never for what is no line of the log. */
function timeOf(line: string, clockDays: number): number {
  try {
    const { time } = JSON.parse(line) as { time: number | string };
    return new Date(time).getTime() - clockDays * 86_400_000;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/**
 * Returns the operations on a register at a machine. What is done at another one, or with Git, may show there later.
 * @param dropped bot, key and value of the writes that a force push has dropped
 */
function listOperations(
  events: readonly Event[],
  { machine, bot, key }: { readonly machine: number; readonly bot: string; readonly key: string },
  dropped: ReadonlySet<string>,
  areTimesRight: boolean,
): models.Operation[] {
  return events.flatMap((event): models.Operation[] => {
    const { start, end, outcome, byGit, what } = event;
    const label = describeEvent(event);
    const isHere = event.machine === machine;
    const operations: models.Operation[] = [];
    if (event.bot !== bot) return operations;
    const seen = event.seen[key];
    if (isHere && seen !== undefined) operations.push({ kind: 'read', value: seen, start, end, label });
    const not = event.not[key];
    if (isHere && not !== undefined) operations.push({ kind: 'not', value: not, start, end, label });
    const value = event.writes[key];
    if (value === undefined || outcome === 'refused') return operations;
    const write = { kind: 'write', value, start, label } as const;
    // A write that a force push has dropped may be replayed, and shows once more.
    if (dropped.has(`${bot} ${key} ${value}`))
      operations.push({ ...write, end: Number.POSITIVE_INFINITY, mayBe: true });
    if (isHere && outcome === 'done' && !byGit) return [...operations, { ...write, end }];
    // Posts keep the time of their machine: seconds are what commits have.
    const isTimed = key !== 'token' && !byGit && areTimesRight && outcome === 'done';
    const maybe = { ...write, end: Number.POSITIVE_INFINITY, mayBe: true };
    operations.push(isTimed ? { ...maybe, staleAfter: end + 2000 } : maybe);
    // Two tokens of the same generation end both, and each machine ends the token of a removed bot itself.
    const times = key !== 'token' ? 0 : what === 'add-or-remove' ? machineCount : 1;
    for (let n = 0; n < times; n++) operations.push({ ...maybe, value: 'none' });
    return operations;
  });
}

/** Finds in the reflogs of the remote and of all machines each move of a branch to a commit without all that it had. */
function readRewrites({ shared, machines, rewrites, restores }: World): models.Rewrite[] {
  const remoteTips = readMoves(shared.folder).flatMap(({ from, to }) => [from, to]);
  const places = [
    { index: null, clone: shared, gitFolder: shared.folder },
    ...machines.map(({ index, clone }) => ({ index, clone, gitFolder: `${clone.folder}/.git` })),
  ];
  return places.flatMap(({ index, clone, gitFolder }) => {
    const isAncestor = readAncestry(clone);
    return readMoves(gitFolder)
      .filter(({ from, to }) => !isAncestor(from, to))
      .filter(
        ({ from, to }) =>
          index !== null ||
          !restores.some((one) => one === to && isAncestor(to, from)) ||
          rewrites.some(({ old, commit }) => old === from && commit === to),
      )
      .map(({ from, to }): models.Rewrite => {
        const isReplay = clone
          .git('log', '-1', '--format=%s', to)
          .startsWith('Replay, on the rewritten branch');
        const found = isReplay ? clone.git('rev-parse', `${to}^`) : to;
        // The last commit that the machine merged, even if a force push has moved the remote back since.
        const history = new Set(clone.git('rev-list', from).split('\n'));
        const common = remoteTips.findLast((id) => history.has(id) && !isAncestor(id, found));
        return {
          machine: index,
          isForced: index === null && rewrites.some(({ old, commit }) => old === from && commit === to),
          // By their times alone, Git would list commits of both where a clock was wrong.
          dropped: readCommits(clone, from, `^${to}`).filter(({ id }) => !isAncestor(id, to)),
          before: readRegisters(clone, from),
          common: readRegisters(clone, common ?? from),
          remote: readRegisters(clone, found),
        };
      });
  });
}

/** The moves of a branch, oldest first. */
function readMoves(gitFolder: string): { readonly from: string; readonly to: string }[] {
  const log = readOr(`${gitFolder}/logs/refs/heads/main`);
  return [...log.matchAll(/^(\w{40}) (\w{40}) /gm)]
    .map(([, from = '', to = '']) => ({ from, to }))
    .filter(({ from }) => !/^0+$/.test(from));
}

/** Returns a function that says whether a commit is another one, or in its history. */
function readAncestry({ git }: Pick<TestRepository, 'git'>): (id: string, tip: string) => boolean {
  const lines = git('rev-list', '--all', '--reflog', '--parents').split('\n');
  const parents = new Map(lines.map((line) => [line.slice(0, 40), line.split(' ').slice(1)]));
  return (id, tip) => {
    const seen = new Set([tip]);
    for (const one of seen) {
      if (one === id) return true;
      for (const parent of parents.get(one) ?? []) seen.add(parent);
    }
    return false;
  };
}

/** Reads the values of all registers at a commit. */
function readRegisters(
  repository: Pick<TestRepository, 'git' | 'folder'>,
  commit: string,
): Map<string, string> {
  const files = [...repository.git('ls-tree', '-r', commit, 'bots/').matchAll(/ (\w{40})\t(.*)$/gm)];
  const ids = new Map(files.map(([, id = '', path = '']) => [path, id]));
  const blobs = readBlobs(repository.folder, [...ids.values()]);
  return new Map(
    allBots.flatMap((bot) => {
      const values = readValues(blobs.get(ids.get(pagePath(bot)) ?? '') ?? '');
      return ['website', 'support'].map((key) => [`${bot} ${key}`, values[key] ?? 'gone'] as const);
    }),
  );
}

/** Commits of the remote, parents first: those of the branch, or of other revisions. */
function readCommits(
  shared: Pick<TestRepository, 'git' | 'folder'>,
  ...revisions: string[]
): models.Commit[] {
  // The service makes the commits of commands, and names who ran them.
  const format = '--format=commit %H|%P|%an%(trailers:key=Changed-by,separator=%x2c)';
  const how = 'log --topo-order --reverse --raw --no-abbrev --no-renames --root'.split(' ');
  const log = shared.git(...how, format, ...(revisions.length === 0 ? ['main'] : revisions));
  const changes = log
    .split('commit ')
    .slice(1)
    .map((text) => {
      const [head = '', ...lines] = text.split('\n');
      const [id = '', parents = '', author = ''] = head.split('|');
      const files = lines.flatMap((line) => {
        const [, before = '', after = '', bot = ''] =
          /^:\d+ \d+ ([0-9a-f]+) ([0-9a-f]+) \w\tbots\/\d+\/(\d+)\.en\.md$/.exec(line) ?? [];
        return bot === '' ? [] : [{ before, after, bot }];
      });
      return { id, parents: parents.split(' '), author, files };
    });
  const blobs = readBlobs(
    shared.folder,
    changes.flatMap(({ files }) => files.flatMap(({ before, after }) => [before, after])),
  );
  return changes.map(({ id, parents, author, files }) => {
    const writes = new Map<string, string>();
    let edited = 0;
    for (const { before, after, bot } of files) {
      const [was, is] = [before, after].map((blob) => (/^0+$/.test(blob) ? '' : (blobs.get(blob) ?? '')));
      const [old, values] = [readValues(was ?? ''), readValues(is ?? '')];
      edited = Number(/"edited": (\d+)/.exec(is ?? '')?.[1] ?? 0);
      for (const key of ['website', 'support']) {
        const value = is === '' ? 'gone' : (values[key] ?? '');
        if (value !== old[key]) writes.set(`${bot} ${key}`, value);
      }
    }
    return { id, parents, by: author === 'Botshelf' ? 'post' : 'person', writes, edited };
  });
}

function readBlobs(folder: string, ids: readonly string[]): Map<string, string> {
  const input = [...new Set(ids)].filter((id) => !/^0+$/.test(id)).join('\n');
  const output = execFileSync('git', ['cat-file', '--batch'], { cwd: folder, input, maxBuffer: 2 ** 30 });
  const blobs = new Map<string, string>();
  for (let at = 0; at < output.length;) {
    const end = output.indexOf(10, at);
    const [id = '', , size = ''] = output.toString('latin1', at, end).split(' ');
    blobs.set(id, output.toString('utf8', end + 1, end + 1 + Number(size)));
    at = end + 2 + Number(size);
  }
  return blobs;
}

/** Reads where the proposals are, each by its bot and account, of which a version is known by its website. */
export function readProposals(shared: Pick<TestRepository, 'git'>): Omit<models.ProposalEnds, 'inBranch'> {
  const open = new Map<string, string>();
  const values = new Map<string, Set<string>>();
  const closed = new Map<string, Set<string>>();
  const refs = shared.git(
    'for-each-ref',
    '--format=%(refname)',
    'refs/botshelf/proposals',
    'refs/botshelf/closed',
  );
  for (const ref of refs.split('\n').filter(Boolean)) {
    const [, , kind, bot = '', account] = ref.split('/');
    const proposal = `${bot}/${account}`;
    const path = pagePath(bot);
    const range = [ref, '--not', 'main', '--', path];
    const changes = shared.git('log', '--full-history', '--format=', '-m', '-p', ...range);
    const its = [...changes.matchAll(/^\+ {2}"website": "([^"]*)/gm)].map(([, value = '']) => value);
    if (kind === 'proposals')
      open.set(proposal, readValues(shared.git('show', `${ref}:${path}`))['website'] ?? '');
    else closed.set(proposal, new Set([...(closed.get(proposal) ?? []), ...its]));
    values.set(proposal, new Set([...(values.get(proposal) ?? []), ...its]));
  }
  return { open, values, closed };
}
