import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { msPerDay } from '../src/bot/clock.ts';
import { createStateRef, CommittedState } from '../src/counts/state-ref.ts';
import { createBotState } from '../src/counts/state.ts';
import { RepositoryOpener } from '../src/git/repository.ts';
import { silentLog } from '../src/lib/log.ts';
import { importCommits, importFile } from './catalogue.ts';
import { postEdit } from './content.ts';
import { cpuOf, getBot, type LoadedServer, loadOf, type LoadRequest, postCount, timesOf } from './load.ts';
import { receive } from './open-data.ts';
import { timeColdPages, timeListPages } from './pages.ts';
import { residentMegabytes, type RunTime, startWholeService, timeScript } from './processes.ts';
import {
  alternate,
  formatRate,
  median,
  megabytes,
  microseconds,
  milliseconds,
  percentile,
  type Row,
} from './rows.ts';
import { timeSearches } from './search.ts';
import { git, packedMegabytes, type Stage, type StageBot } from './stage.ts';
import { timeEdits, timeStarts } from './starts.ts';

/** What a list of this size costs, for the table of docs/scale.md: the service, then Git. */
export async function* scale(stage: Stage): AsyncGenerator<Row> {
  const clear = (): void => rmSync(stage.var, { recursive: true, force: true });
  yield runRow('first start', (await timeStarts(stage, 1, clear))[0]);
  yield runRow('restart', (await timeStarts(stage, 1))[0]);
  yield* ofService(stage);
  git(stage.catalogue, 'restore', '.');
  yield* ofRepository(stage);
  yield* ofState(stage);
}

async function* ofService(stage: Stage): AsyncGenerator<Row> {
  const started = performance.now();
  await using service = await startWholeService(stage);
  const { address, pid } = service;
  yield runRow('restart, until all is indexed', {
    wall: (performance.now() - started) / 1000,
    cpu: cpuOf(pid) / 1e6,
  });
  await rest(5000);
  const resident = residentMegabytes(service);
  yield { goal: 'resident memory', measured: megabytes(resident), cost: resident };

  const some = stage.bots.slice(0, 1000);
  yield await latencyRow('one record', service, some.map(getBot));
  yield percentileRow('page of a list, cold', await timeListPages(address));
  yield percentileRow('page of a bot, cold', await timeColdPages(address, stage.bots));
  yield percentileRow('search', await timeSearches(address));
  const { counts } = await alternate({ counts: loadOf(service, some.map(postCount), 256) });
  yield { goal: 'counts, 256 connections', measured: formatRate(counts), cost: 1 / median(counts.rate) };
  yield percentileRow('content post', await timesOf(address, some.slice(0, 100).map(postEdit)));
  const edit = await timeEdits(stage, service);
  yield { goal: 'edit by hand, until it is served', measured: milliseconds(edit), cost: edit };
  const began = performance.now();
  const { cpu, memory } = await receive(service, '/api/v2/export.ndjson');
  const whole = runRow('export of all', { wall: (performance.now() - began) / 1000, cpu: cpu / 1000 });
  yield { ...whole, measured: `${whole.measured}, ${megabytes(memory / 1e6)} more` };
}

/** A pull request that changes a bot, checked in a partial clone as a pipeline does it; and `git status`. */
async function* ofRepository({ catalogue, bots, ...stage }: Stage): AsyncGenerator<Row> {
  git(catalogue, 'status');
  yield runRow(
    'git status',
    timeWall(() => git(catalogue, 'status')),
  );
  const [{ path }] = bots as [StageBot];
  const page = readFileSync(join(catalogue, path), 'utf8').replace('"description": "', '$&Now ');
  const who = `Ada <ada@example.org> ${Math.floor(Date.now() / 1000)} +0000`;
  const head = `commit refs/pull/1/head\ncommitter ${who}\ndata 4\nEdit\nfrom refs/heads/main^0\n`;
  await importCommits(catalogue, [head, importFile(path, page)]);
  git(catalogue, 'config', 'uploadpack.allowFilter', 'true');
  const clone = join(stage.tempFolder(), 'clone');
  const options = ['--quiet', '--filter=blob:none', '--no-checkout'];
  const cloning = timeWall(() => git(catalogue, 'clone', ...options, `file://${catalogue}`, clone));
  yield runRow('pull request: partial clone', cloning);
  const commit = git(catalogue, 'rev-parse', 'refs/pull/1/head').trim();
  const args = ['check', '--base', 'HEAD', '--head', commit, '--fetch', 'origin'];
  yield runRow('pull request: check', timeScript('src/main.js', args, { BOTSHELF_CATALOGUE: clone }));
}

/** Counts in Git: a checkpoint of a minute if each bot posts every 30 minutes, and a day of all bots. */
async function* ofState({ catalogue, bots, ...stage }: Stage): AsyncGenerator<Row> {
  const [host, reader] = [stage.tempFolder(), stage.tempFolder()];
  for (const folder of [host, reader]) git(folder, 'init', '--quiet', '--bare');
  const push = (): string => git(catalogue, 'push', '--quiet', host, 'refs/botshelf/state');
  const fetch = (): string =>
    git(reader, 'fetch', '--quiet', host, '+refs/botshelf/state:refs/botshelf/state');
  push();
  fetch();
  const repositoryOpener = new RepositoryOpener(catalogue);
  const committed = new CommittedState(createStateRef(repositoryOpener, silentLog), silentLog);
  await committed.refresh();
  const checkpoint = async (name: string, some: readonly StageBot[], at: number): Promise<Row> => {
    for (const [i, { id }] of some.entries()) committed.addCount(id, { value: i, at });
    const [began, cpu] = [performance.now(), cpuOf(process.pid)];
    await committed.commit(() => new Map(some.map(({ id }) => [id, createBotState()])), 'Count');
    const wall = (performance.now() - began) / 1000;
    return runRow(name, { wall, cpu: (cpuOf(process.pid) - cpu) / 1e6 });
  };
  const yesterday = Date.now() - msPerDay;
  // A day that is over gets its file.
  const day = async (): Promise<Row> =>
    await checkpoint('checkpoint of all counts and their day', bots, yesterday);
  yield await addGrowth(catalogue, day);
  yield await addGrowth(host, () => runRow('push of that', timeWall(push)));
  yield runRow('fetch of that', timeWall(fetch));
  const some = bots.slice(0, Math.ceil(bots.length / 30));
  yield await addGrowth(catalogue, async () => await checkpoint('checkpoint of a minute', some, Date.now()));
  yield await addGrowth(host, () => runRow('push of that minute', timeWall(push)));
  repositoryOpener.close();
}

/** Adds the megabytes by which the packs of a repository grow meanwhile. */
async function addGrowth(folder: string, measure: () => Row | Promise<Row>): Promise<Row> {
  const before = packedMegabytes(folder);
  const row = await measure();
  return { ...row, measured: `${row.measured}, ${(packedMegabytes(folder) - before).toFixed(2)} MB` };
}

function timeWall(work: () => unknown): Pick<RunTime, 'wall'> {
  const started = performance.now();
  work();
  return { wall: (performance.now() - started) / 1000 };
}

function runRow(goal: string, { wall, cpu }: Pick<RunTime, 'wall'> & Partial<RunTime> = { wall: NaN }): Row {
  const measured = `${wall.toFixed(2)} s${cpu === undefined ? '' : `, CPU ${cpu.toFixed(2)} s`}`;
  return { goal, measured, cost: wall };
}

function percentileRow(goal: string, taken: readonly number[]): Row {
  const p99 = percentile(taken, 0.99);
  return { goal, measured: `${milliseconds(median(taken))}, p99 ${milliseconds(p99)}`, cost: median(taken) };
}

/** Sends the requests on one connection. */
async function latencyRow(
  goal: string,
  server: LoadedServer,
  requests: readonly LoadRequest[],
): Promise<Row> {
  const { one } = await alternate({ one: loadOf(server, requests, 1) });
  const latency = median(one.latency);
  return { goal, measured: `${milliseconds(latency)}, CPU ${microseconds(median(one.cpu))}`, cost: latency };
}
