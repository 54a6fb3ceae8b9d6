import { ok, strictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mainFile } from '../../support/command-line.ts';
import { repositoryIn, testRepository } from '../../support/repository.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { startServiceProcess, testSettings } from '../../support/service-process.ts';
import { tempFolder, writeFiles } from '../../support/temp-folder.ts';
import { checkProposals, readAnsweredSteps } from '../proposal-aftermath.ts';
import { checkAftermath } from './aftermath.ts';
import { chooseCuts, type Cut, models, writeAfterCut } from './cuts.ts';
import { DiskModel } from './disk-model.ts';
import { checkImages, whyNoImages } from './images.ts';
import { filesIn } from './inode.ts';
import { addAnswer, type Answers } from './owners.ts';
import { record, type Recording, type Story } from './recording.ts';
import { traced } from './strace.ts';
import { needs } from '../../support/tools.ts';

/**
 * The short form has a cut for each model, in a run with counts, content and merges; the long form is `npm run power-loss`.
 * A failed cut prints the variables that try it again.
 */
const cuts = Number(process.env['POWER_LOSS_CUTS'] ?? models.length);
const isLong = process.env['POWER_LOSS_CUTS'] !== undefined;
const kept = process.env['POWER_LOSS_FOLDER'];
const single = process.env['POWER_LOSS_CUT']?.split(' ');

needs('strace', describe)('a power loss while the service', function () {
  this.timeout(300_000 + cuts * 20_000);
  let folder = '';
  let hasFailed = false;

  before(() => {
    folder = kept ?? mkdtempSync(join(tmpdir(), 'botshelf-power-loss-'));
  });

  afterEach(function () {
    hasFailed ||= this.currentTest?.state === 'failed';
  });

  after('remove what was recorded, unless a cut is to be tried again', () => {
    if (!hasFailed && kept === undefined) rmSync(folder, { recursive: true });
  });

  const stories: readonly [string, Story][] = [
    ['saves counts', 'counts'],
    ['commits content', 'content'],
    ['saves and decides proposals', 'proposals'],
    ['saves counts, commits content and merges changes of the remote', 'a merge'],
  ];
  for (const [what, story] of isLong || kept !== undefined ? stories : stories.slice(-2)) {
    it(`${what} keeps every change that was answered, and starts without an operator, ${cuts} times`, async () => {
      const place = join(folder, story.replace(' ', '-'));
      const recording = await record(story, place, isLong ? 10 : 3);
      const [model, at, seed] = single ?? [];
      const chosen =
        single === undefined
          ? chooseCuts(recording.disk, cuts, Math.floor(Math.random() * 2 ** 31))
          : [{ model: models.find((one) => one === model) ?? 'synced', at: Number(at), seed: Number(seed) }];
      let failures = 0;
      const tryCuts = async (): Promise<void> => {
        for (let cut = chosen.pop(); cut; cut = chosen.pop()) {
          const fault = await faultAfter(recording, cut);
          if (fault === undefined) continue;
          failures++;
          const { text } = recording.disk.steps[cut.at - 1] ?? { text: 'the start' };
          const again = `POWER_LOSS_FOLDER=${folder} POWER_LOSS_CUT="${cut.model} ${cut.at} ${cut.seed}"`;
          process.stdout.write(`    ${fault}\n    after ${text}\n    once more: ${again}\n`);
        }
      };
      await Promise.all([tryCuts(), tryCuts()]);
      strictEqual(failures, 0, `${failures} of ${cuts} power losses had a fault; they are named above`);
    });
  }

  for (const type of isLong ? (['ext4', 'xfs'] as const) : []) {
    // Only root can mount, and only where the kernel has the file system.
    const reason = whyNoImages(type);
    if (reason === undefined)
      it(`has its folder on ${type} keeps every change that was answered, and starts without an operator`, async () => {
        await checkImages(type, Math.ceil(cuts / 25));
      });
    else process.stdout.write(`    no image of ${type} can be mounted here: ${reason}\n`);
  }
});

needs('strace', describe)('a power loss right after', function () {
  this.timeout(120_000);
  /** Has a catalogue and its backup; commands write to `deep/made`. */
  let place = '';
  let list = '';
  let made = '';
  beforeEach(() => {
    place = tempFolder();
    [list, made] = [join(place, 'list'), join(place, 'deep/made')];
    testRepository({ [pagePath('7')]: mainPage() }, list);
    writeFiles(list, { 'var/cookie-secret': 'x' });
  });

  const run = (trace: string, args: readonly string[], catalogue = list): void => {
    const [program, ...rest] = traced(trace, [mainFile, ...args]);
    const env = { ...process.env, ...testSettings(catalogue), UV_USE_IO_URING: '0' };
    execFileSync(program, rest, { env, stdio: 'pipe' });
  };
  const commands: Readonly<Record<string, (trace: string) => void | Promise<void>>> = {
    init: (trace) => run(trace, ['init', made, '--samples']),
    'the first backup': (trace) => run(trace, ['backup', made]),
    'a change of bots': (trace) => run(trace, ['bots', '7', '--set', 'category=music', '--yes'], made),
    restore: (trace) => run(trace, ['restore', join(place, 'backup')], made),
    'the clone of mirror': async (trace) => {
      const args = [mainFile, 'mirror', `file://${list}`, '--folder', made, '--port', '0'];
      const service = await startServiceProcess(list, { UV_USE_IO_URING: '0' }, traced(trace, args));
      service.allowLog(/^cloning /);
      await service.end('SIGTERM');
    },
  };
  for (const [title, command] of Object.entries(commands))
    it(`${title} keeps all that it made`, async () => {
      const [before, trace, cut] = [join(tempFolder(), 'before'), join(tempFolder(), 'trace'), tempFolder()];
      if (title === 'a change of bots') cpSync(list, made, { recursive: true });
      if (title === 'restore') run(trace, ['backup', join(place, 'backup')]);
      cpSync(place, before, { recursive: true });
      await command(trace);
      const disk = new DiskModel(before, trace, place);
      writeAfterCut(cut, disk, { model: 'synced', at: disk.steps.length, seed: 0 });
      const [kept, all] = [cut, place].map((folder) => filesIn(join(folder, 'deep')));
      // Services write their own files again, and Git needs no history of refs.
      const own =
        title === 'the clone of mirror'
          ? /^\/made\/(?:var|catalogue\/\.git\/botshelf)/
          : /^\/made\/\.git\/(?:logs|botshelf)\//;
      for (const [path, content] of all ?? [])
        if (!own.test(path)) strictEqual(kept?.get(path), content, path);
      ok(all && all.size > 5);
    });
});

/** Returns what is wrong after a power loss, if anything. */
async function faultAfter({ story, disk, tokens, remote }: Recording, cut: Cut): Promise<string | undefined> {
  const bodies = disk.steps.slice(0, cut.at).flatMap((step) => (step.kind === 'response' ? [step.body] : []));
  const folder = join(tempFolder(), 'clone');
  try {
    writeAfterCut(folder, disk, cut);
    if (story === 'proposals') await checkProposals(repositoryIn(folder), readAnsweredSteps(bodies));
    else {
      const answers: Answers = new Map();
      for (const body of bodies) addAnswer(answers, body);
      await checkAftermath(folder, answers, tokens, remote);
    }
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
