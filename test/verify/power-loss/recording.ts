import { deepStrictEqual } from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import { repositoryIn, testRepository } from '../../support/repository.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { startServiceProcess } from '../../support/service-process.ts';
import { sharedRepository } from '../../support/shared-repository.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { issueTestTokens } from '../../support/token.ts';
import { DiskModel } from './disk-model.ts';
import { filesIn, writeFolder } from './inode.ts';
import { startStepping, stepsChild, stepsFiles } from '../proposal-aftermath.ts';
import { files, ids, type Kind, startPosting } from './owners.ts';
import { traced } from './strace.ts';

/** The work of a service while it is traced; proposals have a program of their own. */
export type Story = 'counts' | 'content' | 'a merge' | 'proposals';

/** A traced run of a service: what was on its disk, step by step. */
export interface Recording {
  readonly story: Story;
  readonly disk: DiskModel;
  readonly tokens: ReadonlyMap<string, string>;
  /** The shared repository in the end, where there is one. */
  readonly remote: string | undefined;
}

const kinds: Readonly<Record<Story, readonly Kind[]>> = {
  counts: ['count'],
  content: ['website'],
  'a merge': ['count', 'website'],
  proposals: [],
};

/** Records a run of some seconds in `folder`, or reads the one that was recorded there before. */
export async function record(story: Story, folder: string, seconds: number): Promise<Recording> {
  const [before, trace, about] = ['before', 'trace', 'about.json'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  if (!existsSync(about)) {
    mkdirSync(folder, { recursive: true });
    await run(story, { before, trace, about, remote: join(folder, 'shared.git') }, seconds);
  }
  const { place, tokens, remote } = JSON.parse(readFileSync(about, 'utf8')) as About;
  return { story, disk: new DiskModel(before, trace, place), tokens: new Map(tokens), remote };
}

interface About {
  readonly place: string;
  readonly tokens: readonly [string, string][];
  readonly remote?: string;
}

async function run(
  story: Story,
  { before, trace, about, remote }: Readonly<Record<'before' | 'trace' | 'about' | 'remote', string>>,
  seconds: number,
): Promise<void> {
  const shared = story === 'a merge' ? sharedRepository(files) : undefined;
  if (shared) refuseServices(shared.folder);
  const isOfProposals = story === 'proposals';
  const { folder } = shared?.clone() ?? testRepository(isOfProposals ? stepsFiles : files);
  const tokens = isOfProposals ? new Map<string, string>() : await issueTestTokens(folder, ids);
  cpSync(folder, before, { recursive: true });
  const env = { BOTSHELF_STATE_SECONDS: '1', UV_USE_IO_URING: '0', ...(shared && remoteSettings) };
  const program = isOfProposals ? [stepsChild, folder] : undefined;
  const service = await startServiceProcess(folder, env, traced(trace, program));
  service.allowLog(/could not push the last commits/);
  const { end } = isOfProposals
    ? startStepping(service.address)
    : startPosting(service.address, tokens, kinds[story]);
  const until = performance.now() + seconds * 1000;
  for (let number = 1; performance.now() < until - 1000; number++) {
    shared?.mergePullRequest((person) => {
      person.write(pagePath('7'), mainPage({ name: `Name ${number}` }));
      person.write(pagePath('1', 'fr'), page(number));
      person.write(pagePath(String(100 + number)), mainPage());
      person.write(`docs/${number}.txt`, 'text\n');
      if (number > 1) person.git('rm', '-q', `docs/${number - 1}.txt`);
    });
    await rest(500);
  }
  await rest(until - performance.now());
  await end();
  if (shared) {
    const tip = shared.git('rev-parse', 'main');
    await eventually(() => repositoryIn(folder).git('merge-base', '--is-ancestor', tip, 'HEAD'));
    cpSync(shared.folder, remote, { recursive: true });
  }
  await service.end('SIGTERM');
  const disk = new DiskModel(before, trace, folder);
  const replayed = join(tempFolder(), 'replayed');
  writeFolder(replayed, disk.root, (inode) => disk.changes(inode));
  deepStrictEqual(filesIn(replayed), filesIn(folder), 'the replayed steps end as the folder does');
  const said: About = { place: folder, tokens: [...tokens], ...(shared && { remote }) };
  writeFileSync(about, JSON.stringify(said));
}

/**
 * Lets only maintainers move the branch of a shared repository, so that what a service pushes when it ends is refused: the
 * branch has the same commits after each cut, and never those that a cut lost.
 */
function refuseServices(folder: string): void {
  const isOfMaintainer = `git log -1 --format=%s "$new" | grep -q '^Merge pull request'`;
  const hook = `#!/bin/sh\nwhile read old new ref; do\n  [ "$ref" != refs/heads/main ] || ${isOfMaintainer} || exit 1\ndone\n`;
  writeFileSync(join(folder, 'hooks/pre-receive'), hook, { mode: 0o755 });
}

export const remoteSettings = {
  BOTSHELF_REMOTE: 'origin',
  BOTSHELF_SYNC_SECONDS: '1',
  BOTSHELF_PUSH_SECONDS: '3600',
};

function page(number: number): string {
  return `---\n${JSON.stringify({ name: `Nom ${number}`, description: 'Un bot.' }, null, 2)}\n---\n\nTexte.\n`;
}
