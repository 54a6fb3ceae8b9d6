import { ok } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, lstatSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import { act, describeLast } from './actors.ts';
import { type Fault, type Holdings, judge, look, measure, settle, stop } from './aftermath.ts';
import { makePlan, type Plan } from './plan.ts';
import { createWorld, type World } from './world.ts';

/** As `npm run simulate` gives them; else a short time of a seed that has all but one of the kinds of deeds and troubles. */
const { SIMULATE_MINUTES: long, SIMULATE_SEED: given } = process.env;
const minutes = Number(long ?? 0.3);
const seed = Number(given ?? 18_443);
const canFail = spawnSync('cc', ['--version'], { stdio: 'ignore' }).status === 0;

describe('three machines, with the people who use them and all that goes wrong', () => {
  it(`end as the models say, from seed ${seed}`, async function () {
    this.timeout(minutes * 600_000 + 300_000);
    const plan = makePlan(seed, minutes, canFail);
    const world = await createWorld(canFail);
    const checks = new Map<string, number>();
    const faults = await simulate(world, plan, checks);
    if (given !== undefined || faults.length > 0) summarise(world, plan, checks);
    ok(faults.length === 0, report(world, faults));
  });
});

async function simulate(world: World, plan: Plan, checks: Map<string, number>): Promise<Fault[]> {
  // The one that is left alone at the end, whose files and memory must not grow.
  const resting = world.machines[plan.seed % world.machines.length];
  let before: Holdings | undefined;
  const measured = rest((plan.milliseconds * world.slowness * 2) / 3).then(async () => {
    // Frozen or cut off, it does not say.
    before = resting && (await measure(resting).catch(() => undefined));
  });
  await act(world, plan);
  await measured;
  const faults: Fault[] = [];
  try {
    await settle(world);
  } catch (error) {
    faults.push({ what: `the machines do not settle: ${String(error)}` });
  }
  if (resting && before && before.pid === resting.service?.process.pid) {
    checks.set('files and memory', 1);
    const { files, megabytes, heap } = before;
    // Connections of clients that are idle end after some seconds, and what is not used is collected at times.
    await eventually(async () => {
      const now = await measure(resting);
      ok(
        now && now.files <= files + 20 && now.megabytes <= megabytes + 100 && now.heap <= heap + 40,
        JSON.stringify({ now, before }),
      );
    }, 30).catch((error: unknown) => faults.push({ what: `a machine grew: ${String(error)}` }));
  }
  await look(world);
  faults.push(...judge(world, plan, checks));
  if (faults.length === 0) faults.push(...(await stop(world)));
  return faults;
}

function summarise(
  { recorder, troubles, slowness }: World,
  plan: Plan,
  checks: ReadonlyMap<string, number>,
): void {
  const tally = (names: readonly string[]): string => {
    const counts = new Map<string, number>();
    for (const name of names.toSorted()) counts.set(name, (counts.get(name) ?? 0) + 1);
    return [...counts].map(([name, many]) => `    ${String(many).padStart(6)}  ${name}`).join('\n');
  };
  process.stdout.write(
    [
      `  seed ${plan.seed}, ${plan.milliseconds / 60_000} minutes, ${slowness.toFixed(1)} times as slow as planned, clocks ${plan.hasWrongClocks ? 'wrong at times' : 'right'}`,
      '  done:',
      tally(recorder.events.map(({ what, status, outcome }) => `${what} ${status || ''} ${outcome}`)),
      '  trouble:',
      tally(troubles.map(({ kind }) => kind)),
      '  checked:',
      ...[...checks].map(([what, many]) => `    ${String(many).padStart(6)}  ${what}`),
      '',
    ].join('\n'),
  );
}

function report({ recorder, shared }: World, faults: readonly Fault[]): string {
  const kept = join(tmpdir(), `simulation-${seed}`);
  if (given !== undefined && faults.length > 0)
    cpSync(dirname(shared.folder), kept, { recursive: true, filter: (path) => !lstatSync(path).isSocket() });
  const texts = faults.slice(0, 20).map(({ what }) => what);
  const [first] = faults.flatMap(({ bot }) => (bot === undefined ? [] : [bot]));
  return [
    `${faults.length} faults:`,
    ...texts,
    ...(first === undefined
      ? []
      : [`the last events about bot ${first}:`, describeLast(recorder.events, first)]),
    ...(given === undefined ? [] : [`${kept} has the repositories`]),
    `run it again with: npm run simulate -- --seed ${seed} --minutes ${minutes}`,
  ].join('\n');
}
