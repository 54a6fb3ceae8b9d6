import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { eventually } from '../../support/eventually.ts';
import type { TestRepository } from '../../support/repository.ts';
import { updateRequest } from '../../support/update-request.ts';
import { read, readValues } from './actors.ts';
import { explanations } from './explanations.ts';
import {
  type AnsweredWrite,
  type Commit,
  findLost,
  findUnexplained,
  findUnexplainedLines,
  findWrongMerge,
  findWrongProposals,
  type Operation,
  type ProposalDeed,
} from './models.ts';
import { allBots, machineCount, type Plan, stayingBots } from './plan.ts';
import { describeEvent, type Event } from './recorder.ts';
import { endMachine, firstValues, type Machine, startMachine, type World } from './world.ts';

/** What a model refuses, and the bot that it is about, where there is one. */
export interface Fault {
  readonly what: string;
  readonly bot?: string;
}

const sharedRefs = [
  'for-each-ref',
  '--format=%(refname) %(objectname)',
  'refs/heads/main',
  'refs/botshelf/state',
  'refs/botshelf/proposals',
  'refs/botshelf/closed',
];

/** Waits until all machines are in step with the remote and serve the same. */
export async function settle(world: World): Promise<void> {
  const { machines, shared } = world;
  for (const machine of machines) {
    if (machine.clockDays === 0) continue;
    await endMachine(machine, 'SIGTERM');
    machine.clockDays = 0;
    await startMachine(machine);
  }
  await eventually(() => {
    for (const { clone } of machines) strictEqual(clone.git(...sharedRefs), shared.git(...sharedRefs));
  }, 90);
  for (const { service, clone } of machines) {
    await eventually(async () => {
      const response = await fetch(`${service?.address}/readyz`);
      const text = await response.text();
      const { parts } = JSON.parse(text) as { parts: Record<string, { faults?: readonly unknown[] }> };
      for (const part of Object.values(parts)) deepStrictEqual(part.faults ?? [], [], text);
      strictEqual(response.status, 200, text);
      strictEqual(clone.status(), '');
    }, 60);
  }
  const ofBots = allBots.map((bot) => `/api/v2/bots/${bot}`);
  for (const path of [
    '/api/v2/bots',
    '/api/v1/bots',
    '/api/v2/counts',
    '/api/v2/bots?sort=-count',
    ...ofBots,
  ])
    await eventually(async () => {
      const responses = machines.map(async ({ service }) => await fetch(`${service?.address}${path}`));
      const texts = await Promise.all(responses.map(async (response) => await (await response).text()));
      for (const text of texts) strictEqual(text, texts[0], path);
    }, 30);
}

/** Reads every value at each machine once more, and tries every token. */
export async function look(world: World): Promise<void> {
  const { machines, recorder, tokens } = world;
  const looks = machines.flatMap(({ index, address }) => [
    ...(['read', 'read-count'] as const).flatMap((what) =>
      allBots.map(async (bot) => await read(world, { actor: 'the end', do: what, machine: index, bot })),
    ),
    ...[...tokens].flatMap(([bot, all]) =>
      all.map(async (token) => {
        const about = { actor: 'the end', what: 'try a token', machine: index, bot };
        await recorder.record(about, async () => {
          const { status } = await fetch(`${address}/api/v2/bots/${bot}`, updateRequest(token, {}));
          if (status === 401) return { status, outcome: 'refused', not: { token } };
          return { status, outcome: 'done', seen: status === 200 ? { token } : {} };
        });
      }),
    ),
  ]);
  await Promise.all(looks);
}

/** Stops all machines, and returns what they leave behind that should not be there. */
export async function findLeftovers({ machines, shared }: World): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const machine of machines) {
    const { clone, index } = machine;
    await endMachine(machine, 'SIGTERM');
    const names = readdirSync(clone.folder, { recursive: true, encoding: 'utf8' });
    // Packs that a killed fetch has left are removed by the next maintenance.
    const left = names.filter(
      (name) =>
        /\.lock$|(^|\/)(\.?tmp_|\.tmp-)|\.tmp$|fast_import_crash/.test(name) &&
        !/objects\/pack\/tmp_pack_\w+$/.test(name),
    );
    for (const name of left) faults.push({ what: `machine ${index} leaves ${name}` });
    if (clone.git('worktree', 'list').includes('\n'))
      faults.push({ what: `machine ${index} leaves a worktree` });
    for (const repository of [clone, shared])
      try {
        repository.git('fsck', '--strict', '--no-dangling');
      } catch (error) {
        faults.push({ what: `git fsck of machine ${index}: ${String(error)}` });
      }
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
      if (readOr(`/proc/${pid}/environ`).split('\0').includes(`BOTSHELF_CATALOGUE=${clone.folder}`))
        faults.push({ what: `machine ${index} leaves the process ${readOr(`/proc/${pid}/cmdline`)}` });
  }
  return faults;
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** What a service holds on to. */
export interface Holdings {
  readonly pid: number;
  readonly files: number;
  readonly megabytes: number;
  /** Of what JavaScript uses. */
  readonly heap: number;
}

/** Measures the service of a machine; undefined where it is being started again. */
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
  for (const { index } of machines)
    for (const bot of allBots)
      for (const key of stayingBots.includes(bot)
        ? ['website', 'support', 'count', 'token']
        : ['website', 'support', 'token']) {
        const initial = key === 'token' ? (world.tokens.get(bot)?.[0] ?? '') : firstValues[key as 'website'];
        const operations = listOperations(events, { machine: index, bot, key }, !plan.hasWrongClocks);
        count('operations on registers', operations.length);
        const stuck = findUnexplained(initial, operations);
        if (stuck === undefined) continue;
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
      const what = findWrongMerge(commits, `${bot} ${key}`, end?.seen[key] ?? '');
      count('merged values');
      if (what !== undefined) faults.push({ what, bot });
    }

  const excuse = createExcuse(world);
  const answered = events.filter(
    ({ outcome, what }) => outcome === 'done' && ['post', 'pull', 'commit', 'accepted'].includes(what),
  );
  const addresses = answered.flatMap((event) =>
    (['website', 'support'] as const).flatMap((key): (AnsweredWrite & { event: Event })[] => {
      const value = event.writes[key];
      if (value === undefined) return [];
      return [{ register: `${event.bot} ${key}`, value, isRewritten: false, event }];
    }),
  );
  count('answered writes in the branch', addresses.length);
  const lost = findLost(commits, addresses) as typeof addresses;
  const isRewritten = new Set(lost.filter((write) => excuse(write.event, write)).map(({ value }) => value));
  for (const { value, event } of lost)
    if (!isRewritten.has(value))
      faults.push({
        what: `an answered write is in no commit: ${describeEvent(event)}`,
        bot: event.bot ?? '',
      });

  const deeds = events.flatMap(({ what, bot, account, writes, start, end, outcome }): ProposalDeed[] => {
    const value = writes['proposal'];
    if (account === null || value === undefined || outcome === 'refused') return [];
    return [
      {
        what: what as ProposalDeed['what'],
        proposal: `${bot}/${account}`,
        value,
        start,
        end,
        isAnswered: outcome === 'done',
        isRewritten: isRewritten.has(value),
      },
    ];
  });
  count('steps of proposals', deeds.length);
  const inBranch = new Set(commits.flatMap(({ writes }) => [...writes.values()]));
  const ends = { ...readProposals(shared), inBranch };
  for (const what of findWrongProposals(deeds, ends, !plan.hasWrongClocks))
    faults.push({ what, bot: /proposal (\d+)/.exec(what)?.[1] ?? '' });

  for (const { index, services } of machines) {
    const lines = services.flatMap(({ service, clockDays }) =>
      service
        .log()
        .split('\n')
        .filter(isComplaint)
        .map((text) => ({ at: timeOf(text, clockDays) - recorder.startedAt, text })),
    );
    count('warnings and errors in logs', lines.length);
    const troubles = world.troubles.filter(({ machine }) => machine === index);
    for (const text of findUnexplainedLines(lines, troubles, explanations))
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

/** Returns the operations on a register at a machine. What is done at another one, or with Git, may show there later. */
function listOperations(
  events: readonly Event[],
  { machine, bot, key }: { readonly machine: number; readonly bot: string; readonly key: string },
  areTimesRight: boolean,
): Operation[] {
  const rewrites = events.filter((event) => event.what === 'rewrite' && event.bot === bot);
  const lastRewrite = rewrites.findLast(({ outcome }) => outcome === 'done')?.end ?? 0;
  return events.flatMap((event): Operation[] => {
    const { start, end, outcome, byGit, what } = event;
    const label = describeEvent(event);
    const isHere = event.machine === machine;
    const operations: Operation[] = [];
    if (event.bot !== bot) return operations;
    const seen = event.seen[key];
    if (isHere && seen !== undefined) operations.push({ kind: 'read', value: seen, start, end, label });
    const not = event.not[key];
    if (isHere && not !== undefined) operations.push({ kind: 'not', value: not, start, end, label });
    const value = event.writes[key];
    if (value === undefined || outcome === 'refused') return operations;
    const write = { kind: 'write', value, start, label } as const;
    // A write that a force push has dropped is replayed, and shows once more.
    if (
      event.commit !== null &&
      what === 'post' &&
      start < lastRewrite &&
      (key === 'website' || key === 'support')
    )
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

/** Returns a function that says whether force pushes explain that a write of an event is in no commit of the branch. */
function createExcuse({
  rewrites,
  shared,
  machines,
  recorder,
}: World): (event: Event, write: AnsweredWrite) => boolean {
  const valueAt = (commit: string, bot: string, key: string): string | undefined => {
    const path = shared.git('ls-tree', '-r', '--name-only', commit, `bots/00${bot}/`);
    return path === '' ? 'gone' : readValues(shared.git('show', `${commit}:${path}`))[key];
  };
  const known = rewrites.map(({ old, commit, at }) => {
    const dropped = readCommits(shared, old, `^${commit}`);
    return {
      old,
      commit,
      at,
      dropped: new Set(dropped.flatMap(({ writes }) => [...writes].map((write) => write.join(' ')))),
    };
  });
  return (event, { register, value }) => {
    const [bot = '', key = ''] = register.split(' ');
    const isReplaced = recorder.events.some(
      (later) =>
        later.start >= event.start &&
        later.number !== event.number &&
        later.machine === event.machine &&
        later.bot === bot &&
        later.writes[key] !== undefined &&
        later.outcome !== 'refused',
    );
    const clone = event.machine === null ? shared : machines[event.machine]?.clone;
    const path = `bots/00${bot}/${bot}.en.md`;
    // The commit of an accepted proposal is not in the response.
    const search = ['log', '--all', '--reflog', '-1', '--format=%H', '--grep=^Reviewed-by: ', `-S${value}"`];
    const made = event.what === 'accepted' ? clone?.git(...search, '--', path) : event.commit;
    return known.some(({ old, commit, at, dropped }) => {
      if (dropped.has(`${register} ${value}`)) return true;
      if (!made || clone === undefined) return false;
      if (isReplaced || valueAt(old, bot, key) !== valueAt(commit, bot, key)) return true;
      // Its machine may have been away for a while, and have seen what came after the force push at the same time.
      const unseen = [`${made}..main`, `--until=${new Date(at + 60_000).toISOString()}`];
      return clone.git('log', '--format=%H', '-m', `-G"${key}"`, ...unseen, '--', path) !== '';
    });
  };
}

/** Commits of the remote, parents first: those of the branch, or of other revisions. */
function readCommits(shared: Pick<TestRepository, 'git' | 'folder'>, ...revisions: string[]): Commit[] {
  const format = '--format=commit %H|%P|%an';
  const log = shared.git(
    'log',
    '--topo-order',
    '--reverse',
    '--raw',
    '--no-abbrev',
    '--no-renames',
    '--root',
    format,
    ...(revisions.length === 0 ? ['main'] : revisions),
  );
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

/** Which proposals are open at the remote, and all values in the history of their refs. */
function readProposals(shared: Pick<TestRepository, 'git'>): {
  open: Set<string>;
  values: Map<string, Set<string>>;
} {
  const open = new Set<string>();
  const values = new Map<string, Set<string>>();
  const refs = shared.git(
    'for-each-ref',
    '--format=%(refname)',
    'refs/botshelf/proposals',
    'refs/botshelf/closed',
  );
  for (const ref of refs.split('\n').filter(Boolean)) {
    const [, , kind, bot = '', account] = ref.split('/');
    const name = `${bot}/${account}`;
    if (kind === 'proposals') open.add(name);
    const its = values.get(name) ?? new Set();
    values.set(name, its);
    const path = `bots/00${bot}/${bot}.en.md`;
    for (const id of shared.git('rev-list', ref, '--not', 'main').split('\n').filter(Boolean)) {
      const value = readValues(shared.git('show', `${id}:${path}`))['website'];
      if (value !== undefined) its.add(value);
    }
  }
  return { open, values };
}
