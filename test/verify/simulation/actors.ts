import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { botshelf } from '../../support/command-line.ts';
import { sendForm } from '../../support/form-fields.ts';
import { repositoryIn, type TestRepository } from '../../support/repository.ts';
import { pagePath } from '../../support/sample.ts';
import type { Page } from '../../support/visitor.ts';
import { addressOf, allBots, type Plan, type Step } from './plan.ts';
import { describeEvent, type Event } from './recorder.ts';
import {
  createMachine,
  endMachine,
  type Machine,
  makeTrouble,
  pageWith,
  people,
  recordTrouble,
  startMachine,
  type World,
} from './world.ts';
import { updateRequest } from '../../support/token.ts';

/** Does what is planned: each actor one deed after the other, all actors at the same time. A machine that is too slow leaves out the last ones. */
export async function act(world: World, { steps, milliseconds }: Plan): Promise<void> {
  const { recorder, slowness } = world;
  const actors = new Map<string, Step[]>();
  for (const step of steps) actors.set(step.actor, [...(actors.get(step.actor) ?? []), step]);
  const isLate = (): boolean => recorder.now > milliseconds * slowness * 1.5;
  // A token that has ended is looked for at the remote first, at most every five seconds: nobody waits for that.
  const unawaited: Promise<void>[] = [];
  const doAll = async (own: readonly Step[]): Promise<void> => {
    for (const step of own) {
      if (isLate()) return;
      await rest(Math.max(0, step.at * slowness - recorder.now));
      // Nobody sends much to a service that does not run.
      if ('machine' in step && !('ms' in step))
        while (machineOf(world, step).lineOfClients.target === 0 && !isLate()) await rest(20);
      const done = perform(world, step);
      if (step.do === 'post' && step.age > 0) unawaited.push(done);
      else await done;
    }
  };
  await Promise.all([...actors.values()].map(doAll));
  await Promise.all(unawaited);
}

type Of<Do extends Step['do']> = Extract<Step, { readonly do: Do }>;

async function perform(world: World, step: Step): Promise<void> {
  switch (step.do) {
    case 'post':
      await post(world, step);
      // Owners look at what they have posted.
      if (step.age === 0)
        await read(world, { ...step, do: step.keys[0] === 'count' ? 'read-count' : 'read' });
      return;
    case 'read':
    case 'read-count':
      return await read(world, step);
    case 'issue':
    case 'revoke':
      return await changeToken(world, step);
    case 'send':
      return await send(world, step);
    case 'withdraw':
    case 'accepted':
    case 'declined':
    case 'changes-asked':
      return await decide(world, step);
    case 'pull':
    case 'add-or-remove':
      return await commitAtRemote(world, step);
    case 'rewrite':
      return await rewrite(world, step);
    case 'host-back':
      return await restoreHost(world, step);
    case 'edit-clone':
      return await editClone(world, step);
    case 'command':
      return await runCommand(world, step);
    case 'new-machine':
      return await addMachine(world, step);
    case 'kill-answered':
      return await killAnswered(world, step);
    default: {
      const machine = machineOf(world, step);
      await recordTrouble(world, step.do, machine, async () => await makeTrouble(world, step, machine));
    }
  }
}

function machineOf({ machines }: World, { machine }: { readonly machine: number }): Machine {
  const found = machines[machine];
  if (found === undefined) throw new Error(`there is no machine ${machine}`);
  return found;
}

/** The fields of every event of a step. */
const about = ({ actor, do: what, ...step }: Step): Pick<Event, 'actor' | 'what' | 'machine' | 'bot'> => ({
  actor,
  what,
  machine: 'machine' in step ? step.machine : null,
  bot: 'bot' in step ? step.bot : null,
});

async function get(url: string, init: RequestInit = {}): Promise<{ status: number; text: string }> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(20_000) });
  return { status: response.status, text: await response.text() };
}

async function post(
  world: World,
  step: Of<'post' | 'kill-answered'>,
  { address }: { readonly address: string } = machineOf(world, step),
): Promise<void> {
  const { bot, keys, number, count, age } = step;
  const token = world.tokens.get(bot)?.at(-1 - age);
  if (token === undefined) return;
  const value = (key: string): unknown => (key === 'count' ? count : addressOf(number));
  const body = Object.fromEntries(keys.map((key) => [key, value(key)]));
  const writes = Object.fromEntries(keys.map((key) => [key, String(value(key))]));
  await world.recorder.record({ ...about(step), what: 'post', writes }, async () => {
    const { status, text } = await get(`${address}/api/v2/bots/${bot}`, updateRequest(token, body));
    if (status === 200)
      return {
        status,
        outcome: 'done',
        seen: { token },
        commit: (JSON.parse(text) as { commit: string | null }).commit,
      };
    if (status === 401) return { status, outcome: 'refused', not: { token } };
    if (status === 404) return { status, outcome: 'refused', seen: gone };
    if (status === 409) return { status, outcome: 'refused', seen: { token } };
    // With 503 the change may be there all the same: the disk does not say.
    return { status, outcome: status === 503 ? 'maybe' : 'refused' };
  });
}

/** Posts, has the service killed as soon as it has answered, and reads what the next one knows of the bot. */
async function killAnswered(world: World, step: Of<'kill-answered'>): Promise<void> {
  const machine = machineOf(world, step);
  await recordTrouble(world, step.do, machine, async () => {
    machine.calls?.killAfterAnswer();
    await post(world, step, machine.service);
    machine.calls?.disarm();
    await endMachine(machine, 'SIGKILL');
    await startMachine(machine);
  });
  for (const what of ['read', 'read-count'] as const) await read(world, { ...step, do: what });
}

/** Reads the addresses of a bot at a machine, or its count, from the badge: `/api/v2/counts` may be some seconds old. */
export async function read(
  world: World,
  step: Pick<Of<'read' | 'read-count'>, 'actor' | 'do' | 'machine' | 'bot'>,
): Promise<void> {
  const { actor, do: what, machine, bot } = step;
  const { address } = machineOf(world, step);
  await world.recorder.record({ actor, what, machine, bot }, async () => {
    const path = what === 'read' ? `/api/v2/bots/${bot}` : `/bots/${bot}/badge.svg`;
    const { status, text } = await get(address + path);
    if (what === 'read' && status === 404) return { status, outcome: 'refused', seen: gone };
    if (status !== 200) return { status, outcome: 'refused' };
    const [, count] = /: (\d+) servers?</.exec(text) ?? [];
    if (what === 'read-count') return { status, outcome: 'done', seen: { count: count ?? 'none' } };
    const body = JSON.parse(text) as Record<string, unknown>;
    return {
      status,
      outcome: 'done',
      seen: { website: String(body['website']), support: String(body['support']) },
    };
  });
}

async function changeToken(world: World, step: Of<'issue' | 'revoke'>): Promise<void> {
  const { bot } = step;
  const machine = machineOf(world, step);
  const visitor = await world.browserOf(people.author);
  const path = `/bots/${bot}/token${step.do === 'revoke' ? '/revoke' : ''}`;
  const press = async (): Promise<Page> =>
    await visitor.press({ url: new URL(machine.address) } as Page, path);
  // A token that nobody saw may have taken the place of the one before.
  const number = world.recorder.events.length;
  const writes = { token: step.do === 'issue' ? `unseen ${number}` : 'none' };
  await world.recorder.record({ ...about(step), writes }, async () => {
    let { status, text } = await press();
    if (status === 403) {
      await world.logIn(people.author, machine);
      ({ status, text } = await press());
    }
    if (status >= 400) return { status, outcome: status >= 500 ? 'maybe' : 'refused' };
    if (step.do === 'revoke') return { status, outcome: 'done' };
    const [token] = /bsh_\w{49}/.exec(text) ?? [];
    if (token === undefined) throw new Error(`there is no token on the page: ${text}`);
    world.tokens.get(bot)?.push(token);
    return { status, outcome: 'done', writes: { token } };
  });
}

async function send(world: World, step: Of<'send'>): Promise<void> {
  const { account, bot, number } = step;
  const machine = machineOf(world, step);
  await world.recorder.record(
    { ...about(step), account, writes: { proposal: addressOf(number) } },
    async () => {
      const visitor = await world.browserOf(account);
      if (visitor.cookies.size === 0) await world.logIn(account, machine);
      const page = await visitor.go(`${machine.address}/bots/${bot}/edit`);
      if (!page.text.includes('class="send"')) return { status: page.status, outcome: 'refused' };
      const { status, url } = await sendForm(visitor, page, { website: addressOf(number) });
      const isSent = url.pathname === `/proposals/${bot}` && status === 200;
      return { status, outcome: isSent ? 'done' : status >= 500 ? 'maybe' : 'refused' };
    },
  );
}

/** The proposals that were sent, and neither withdrawn nor decided about since. */
function findOpen({ recorder }: World): { bot: string; account: string }[] {
  const open = new Map<string, { bot: string; account: string }>();
  for (const { bot, account, what, outcome } of recorder.events) {
    if (bot === null || account === null || outcome !== 'done') continue;
    if (what === 'send' || what === 'taken-back') open.set(`${bot} ${account}`, { bot, account });
    else if (what !== 'changes-asked') open.delete(`${bot} ${account}`);
  }
  return [...open.values()];
}

/** Withdraws or decides a proposal, if one is open. */
async function decide(
  world: World,
  step: Of<'withdraw' | 'accepted' | 'declined' | 'changes-asked'>,
): Promise<void> {
  const open = findOpen(world);
  const found = open[step.number % open.length];
  if (found === undefined) return;
  const { bot, account } = found;
  const machine = machineOf(world, step);
  const isOwn = step.do === 'withdraw';
  const who = isOwn ? account : step.actor === 'maintainer' ? people.maintainer : people.colleague;
  let page: Page | undefined;
  const look = async (): Promise<Partial<Event>> => {
    const visitor = await world.browserOf(who);
    if (visitor.cookies.size === 0) await world.logIn(who, machine);
    page = await visitor.go(`${machine.address}${isOwn ? `/proposals/${bot}` : `/review/${bot}/${account}`}`);
    return { status: page.status, outcome: 'refused' };
  };
  await world.recorder.record({ ...about(step), bot, what: 'open a proposal' }, look);
  const [, version] = /name="version" value="(\w+)"/.exec(page?.text ?? '') ?? [];
  if (page === undefined || version === undefined) return;
  const opened = page;
  const value = readValues(machine.clone.git('show', `${version}:${pagePath(bot)}`))['website'] ?? '';
  const writes = { proposal: value, ...(step.do === 'accepted' && { website: value }) };
  const visitor = await world.browserOf(who);
  const press = async (fields: Readonly<Record<string, string>>): Promise<Partial<Event>> => {
    const path = opened.url.pathname + (isOwn ? '/withdraw' : '');
    page = await visitor.press(opened, path, fields);
    const { status, url } = page;
    if (status !== 200) return { status, outcome: status >= 500 ? 'maybe' : 'refused' };
    // To a wrong clock the login is a day old, and one of the last hour is asked for.
    if (url.origin !== opened.url.origin) {
      await visitor.logIn(page, who);
      return { status, outcome: 'refused' };
    }
    const { searchParams } = url;
    if (isOwn) return { status, outcome: 'done' };
    if (fields['decision'] === 'taken-back') return { status, outcome: url.search === '' ? 'done' : 'maybe' };
    // The page may be another one, where somebody else decided about the next proposal.
    const outcome = searchParams.has('done') ? 'done' : searchParams.has('draft') ? 'refused' : 'maybe';
    return { status, outcome };
  };
  const base = { ...about(step), bot, account };
  const decision = { decision: step.do, reason: 'duplicate', text: 'Words.' };
  const { outcome } = await world.recorder.record(
    { ...base, writes, commit: version },
    async () => await press({ version, ...(!isOwn && decision) }),
  );
  const [, last] = /value="taken-back"[^]*?name="version" value="(\w+)"/.exec(page.text) ?? [];
  // Every third decision is taken back immediately.
  if (outcome !== 'done' || step.do === 'changes-asked' || step.number % 3 > 0 || last === undefined) return;
  await world.recorder.record(
    { ...base, what: 'taken-back', writes: { proposal: value } },
    async () => await press({ version: last, decision: 'taken-back' }),
  );
}

/** The values of the addresses in the text of a page. */
export function readValues(text: string): Record<string, string> {
  const values = [...text.matchAll(/^ {2}"(website|support)": "?([^",\n]*)/gm)];
  return Object.fromEntries(values.map(([, key = '', value = '']) => [key, value]));
}

const gone = { website: 'gone', support: 'gone' };

const withValue = (text: string, key: string, value: string): string =>
  text.replace(new RegExp(`^  "${key}": [^,\\n]*`, 'm'), `  "${key}": "${value}"`);

/** Pushes a commit of a person to the remote, on top of what it has, once more where a service was faster. */
async function commitAtRemote(world: World, step: Of<'pull' | 'add-or-remove'>): Promise<void> {
  const { maintainer } = world.shared;
  const path = pagePath(step.bot);
  const value = addressOf(step.number);
  await world.recorder.record({ ...about(step), byGit: true }, async () => {
    for (;;) {
      maintainer.git('fetch', '-q', 'origin');
      maintainer.git('switch', '-q', '--discard-changes', '-C', 'main', 'origin/main');
      const exists = existsSync(join(maintainer.folder, path));
      let writes: Record<string, string> = { website: value, support: value };
      if (step.do === 'pull') {
        if (!exists) return { outcome: 'refused' };
        writes = { [step.key]: value };
        if (step.merge) maintainer.git('switch', '-q', '-C', 'pull');
        maintainer.write(path, withValue(maintainer.read(path), step.key, value));
      } else if (exists) {
        writes = { ...gone, token: 'none' };
        maintainer.git('rm', '-q', path);
      } else maintainer.write(path, pageWith(writes));
      maintainer.commit({}, `Step ${step.number}`);
      if (step.do === 'pull' && step.merge) {
        maintainer.git('switch', '-q', 'main');
        maintainer.git('merge', '-q', '--no-ff', '-m', 'Merge a pull request', 'pull');
      }
      if (maintainer.tryGit('push', '-q', 'origin', 'main') === 0) return { outcome: 'done', writes };
      await rest(10);
    }
  });
}

/** Rewrites the remote's branch with force: the last commits are dropped, or become one. */
async function rewrite(world: World, step: Of<'rewrite'>): Promise<void> {
  const { maintainer } = world.shared;
  maintainer.git('fetch', '-q', 'origin');
  const old = maintainer.git('rev-parse', 'origin/main');
  maintainer.git('switch', '-q', '--discard-changes', '-C', 'main', old);
  if (Number(maintainer.git('rev-list', '--first-parent', '--count', 'main')) <= step.commits + 1) return;
  maintainer.git('reset', '-q', step.how === 'drop' ? '--hard' : '--soft', `HEAD~${step.commits}`);
  if (step.how === 'squash') maintainer.git('commit', '-q', '--allow-empty', '-m', 'Squash');
  const lease = `--force-with-lease=main:${old}`;
  const commit = maintainer.git('rev-parse', 'main');
  let isPushed: boolean | undefined;
  for (const bot of allBots)
    await world.recorder.record({ ...about(step), bot, byGit: true, commit }, async () => {
      isPushed ??= maintainer.tryGit('push', '-q', lease, 'origin', 'main') === 0;
      const path = join(maintainer.folder, pagePath(bot));
      const writes = existsSync(path) ? readValues(maintainer.read(pagePath(bot))) : gone;
      return { outcome: isPushed ? 'done' : 'refused', writes };
    });
  if (isPushed === true) world.rewrites.push({ old, commit });
}

/** Sets branch and state of the remote back to what they were some time before, as soon as all machines can tell. */
async function restoreHost(world: World, step: Of<'host-back'>): Promise<void> {
  const { machines, slowness, recorder, troubles } = world;
  const [branch = '', state = ''] = readTips(world);
  await rest(step.ms * slowness);
  for (let attempt = 0, isOver = false; attempt < 10 && !isOver; attempt++) {
    const start = recorder.now;
    // A server that comes back from a backup was away before.
    const away = machines.filter(({ remote }) => remote.mode === 'serve');
    for (const { remote } of away) remote.mode = 'cut';
    await rest(300 * slowness);
    isOver = restoreBackup(world, { branch, state });
    for (const { remote, index } of away) {
      if (remote.mode === 'cut') remote.mode = 'serve';
      troubles.push({ kind: 'remote-cut', machine: index, start, end: recorder.now });
    }
    if (isOver) await recorder.record({ ...about(step), byGit: true }, async () => ({ outcome: 'done' }));
    else await rest(1000);
  }
}

const readTips = ({ shared }: World): string[] =>
  shared.git('rev-parse', 'main', 'refs/botshelf/state').split('\n');

/**
 * Restores a backup where some machine has all of the branch, unless the branch has nothing new or was rewritten since. Returns
 * whether it did. A machine that has seen more of the branch than the backup has, and not of the state, would take it for a
 * force push of a person.
 */
function restoreBackup(world: World, backup: { readonly branch: string; readonly state: string }): boolean {
  const { tryGit } = repositoryIn(world.shared.folder);
  const isAncestor = (id: string, of: string): boolean => tryGit('merge-base', '--is-ancestor', id, of) === 0;
  const [tip = '', state = ''] = readTips(world);
  if (tip === backup.branch || !isAncestor(backup.branch, tip)) return false;
  if (!world.machines.some(({ clone }) => clone.tryGit('merge-base', '--is-ancestor', tip, 'main') === 0))
    return false;
  for (const { clone } of world.machines) {
    const refs = clone.git('for-each-ref', '--format=%(refname) %(objectname)', 'refs/botshelf/remote');
    const [, base = backup.branch] = /\/base-main (.*)/.exec(refs) ?? [];
    const [, seen = backup.state] = /\/seen-state (.*)/.exec(refs) ?? [];
    if (!isAncestor(base, backup.branch) && isAncestor(seen, backup.state)) return false;
  }
  const leases = [`--force-with-lease=main:${tip}`, `--force-with-lease=refs/botshelf/state:${state}`];
  const pushed = [`${backup.branch}:main`, `${backup.state}:refs/botshelf/state`];
  // A person may push at the same time.
  if (tryGit('push', '-q', '--atomic', ...leases, '.', ...pushed) !== 0) return false;
  world.restores.push(backup.branch);
  return true;
}

/** Edits a page in the clone of a service, which sees the file immediately; commits it later, or not at all. */
async function editClone(world: World, step: Of<'edit-clone'>): Promise<void> {
  const { clone } = machineOf(world, step);
  const path = pagePath(step.bot);
  const text = withValue(clone.read(path), step.key, addressOf(step.number));
  const base = { ...about(step), byGit: true };
  await world.recorder.record({ ...base, writes: readValues(text) }, async () => {
    clone.write(path, text);
    return { outcome: 'done' };
  });
  await rest(step.ms);
  await world.recorder.record({ ...base, what: step.end, writes: readValues(text) }, async () => {
    if (step.end === 'commit' && (await succeeds(clone, ['commit', '-q', '-m', `Step ${step.number}`, path])))
      return { outcome: 'done', commit: clone.git('log', '-1', '--format=%H', '--', path) };
    if (!(await succeeds(clone, ['checkout', '-q', 'HEAD', '--', path])))
      throw new Error(`${path} of machine ${step.machine} can be neither committed nor discarded`);
    return { outcome: 'done', writes: readValues(clone.read(path)) };
  });
}

/** Sets a key with a command next to the service of a machine, which may be killed meanwhile. */
async function runCommand(world: World, step: Of<'command'>): Promise<void> {
  const { clone } = machineOf(world, step);
  const value = addressOf(step.number);
  const writes = { [step.key]: value };
  await world.recorder.record({ ...about(step), byGit: true, writes }, async () => {
    const args = ['bots', step.bot, '--set', `${step.key}=${value}`, '--yes', '--reason', 'Step'];
    const { code, stderr } = await botshelf(clone.folder, args);
    if (code === 0) return { outcome: 'done' };
    // The change may have been made if that is unknown, and was made if another change of the same value stays.
    return { outcome: code === 2 && stderr.includes('This change was not made') ? 'refused' : 'maybe' };
  });
}

/** Makes a clone of the remote, and starts a service in it later. */
async function addMachine(world: World, step: Of<'new-machine'>): Promise<void> {
  const machine = await createMachine(world.shared, world.machines.length, undefined);
  await rest(step.ms * world.slowness);
  await startMachine(machine);
  world.machines.push(machine);
}

/** Runs git until it succeeds: a service holds the lock of the index for as long as a commit takes, or a kill until it is back. */
async function succeeds(clone: TestRepository, args: readonly string[]): Promise<boolean> {
  for (let attempt = 0; attempt < 100; attempt++) {
    if (clone.tryGit(...args) === 0) return true;
    await rest(100);
  }
  return false;
}

/** The last events about a bot, as text. */
export function describeLast(events: readonly Event[], bot: string | null, many = 30): string {
  const related = events.filter((event) => event.bot === bot || event.bot === null || bot === null);
  return related.slice(-many).map(describeEvent).join('\n');
}
