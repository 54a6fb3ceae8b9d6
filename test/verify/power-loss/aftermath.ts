import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { eventually } from '../../support/eventually.ts';
import { repositoryIn } from '../../support/repository.ts';
import { countsOf } from '../../support/posted-counts.ts';
import { startServiceProcess } from '../../support/service-process.ts';
import { type Answers, categoryOf, ids, post } from './owners.ts';
import { remoteSettings } from './recording.ts';

/**
 * Starts the service on a folder that a power loss left, and checks that it serves what was answered, takes posts, ends,
 * and leaves a clean repository.
 * @param remote the shared repository that the folder is a clone of
 */
export async function checkAftermath(
  folder: string,
  answers: Answers,
  tokens: ReadonlyMap<string, string>,
  remote?: string,
): Promise<void> {
  const repository = repositoryIn(folder);
  if (remote !== undefined) repository.git('config', 'remote.origin.url', `file://${remote}`);
  const service = await startServiceProcess(folder, remote === undefined ? {} : remoteSettings);
  service.allowLog(/./);
  try {
    if (remote !== undefined) await servesRemote(service.address, remote);
    await servesAnswers(service.address, answers);
    for (const [id, token] of [...tokens].slice(0, 2))
      for (const kind of ['count', 'website'] as const)
        await post(service.address, id, token, kind, 1_000_000 + Number(id));
    await servesAnswers(
      service.address,
      new Map([...answers, ['count 1', 1_000_001], ['website 1', 1_000_001]]),
    );
    await eventually(async () => {
      const response = await fetch(`${service.address}/readyz`);
      const { parts } = (await response.json()) as { parts: Record<string, { faults: string[] }> };
      deepStrictEqual(parts['repository']?.faults, []);
    });
    strictEqual(await service.end('SIGTERM'), 0, 'it ends');
  } finally {
    await service.end('SIGKILL');
  }
  strictEqual(repository.status(), '', 'git status');
  const fsck = spawnSync('git', ['-C', folder, 'fsck', '--strict', '--no-dangling'], { encoding: 'utf8' });
  strictEqual(fsck.stdout + fsck.stderr, '', 'git fsck');
  const left = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  deepStrictEqual(
    left.filter((name) => /\.(?:lock|keep|tmp)$|(?:^|\/)\.?tmp[-_]|staging\/file-/.test(name)),
    [],
    'nothing is left over',
  );
}

/** The counts may be read again a second after a post, so this is repeated. @param sent any number where it is left out */
export async function servesAnswers(address: string, answers: Answers, sent?: Answers): Promise<void> {
  await eventually(async () => await servesAnswersNow(address, answers, sent));
}

async function servesAnswersNow(address: string, answers: Answers, sent?: Answers): Promise<void> {
  const counts = await countsOf(address);
  for (const id of ids) {
    const { website, category } = await botAt(address, id);
    const served = { count: counts.get(id) ?? 0, website: Number(website?.split('/').at(-1) ?? 0) };
    for (const kind of ['count', 'website'] as const) {
      const [least, most] = [answers, sent].map((numbers) => numbers?.get(`${kind} ${id}`));
      ok(
        served[kind] >= (least ?? 0),
        `${kind} ${least} of bot ${id} was answered, ${served[kind]} is served`,
      );
      ok(
        served[kind] <= (most ?? (sent ? 0 : Infinity)),
        `${kind} ${served[kind]} of bot ${id} was not sent`,
      );
    }
    if (website !== null) strictEqual(category, categoryOf(served.website), 'a change is whole');
  }
}

/** Checks that edits merged elsewhere are served. */
async function servesRemote(address: string, remote: string): Promise<void> {
  const shared = repositoryIn(remote);
  const [, name] = /"name": "(.*)"/.exec(shared.git('show', 'main:bots/007/7.en.md')) ?? [];
  const added = shared.git('ls-tree', '-r', '--name-only', 'main').match(/\d+(?=\.en\.md$)/gm) ?? [];
  await eventually(async () => {
    strictEqual((await botAt(address, '7')).contents['en']?.name, name);
    for (const id of added) await botAt(address, id);
  }, 30);
}

interface Bot {
  readonly website: string | null;
  readonly category: string;
  readonly contents: Readonly<Record<string, { readonly name: string }>>;
}

async function botAt(address: string, id: string): Promise<Bot> {
  const response = await fetch(`${address}/api/v2/bots/${id}`);
  strictEqual(response.status, 200, `bot ${id} is served`);
  return (await response.json()) as Bot;
}
