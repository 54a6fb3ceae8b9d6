import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkCatalogue, createFolderSource } from '../../src/check/check.ts';
import { copyTemplate } from '../../src/commands/init.ts';
import { readCases } from '../support/fixture-lines.ts';
import { botshelf } from '../support/command-line.ts';
import { eventually } from '../support/eventually.ts';
import { repositoryIn } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { startTestService } from '../support/service.ts';
import { tempFolder, writeFiles } from '../support/temp-folder.ts';
import { issueTestToken } from '../support/token.ts';

const id = '123456789012345678';

describe('botshelf init', () => {
  it('makes a repository that the service runs on and takes its first bot @slow', async () => {
    const cwd = tempFolder();
    const { code, stdout, stderr } = await botshelf(cwd, ['init', 'shelf'], { cwd });
    deepStrictEqual([code, stderr], [0, '']);
    match(stdout, /^shelf is a catalogue now\.\n/);
    const folder = join(cwd, 'shelf');
    const repo = repositoryIn(folder);
    strictEqual(repo.git('symbolic-ref', 'HEAD'), 'refs/heads/main');
    deepStrictEqual(repo.git('ls-files').split('\n'), [
      '.gitattributes',
      '.github/CODEOWNERS',
      '.github/workflows/catalogue.yml',
      '.gitignore',
      '.prettierignore',
      'MAINTAINERS.md',
      'README.md',
      'bots/.gitkeep',
      'botshelf.json',
    ]);
    match(readFileSync(join(folder, '.prettierignore'), 'utf8'), /^bots\/\ncollections\/$/m);
    strictEqual(repo.status(), '');
    strictEqual((await botshelf(folder, ['check'])).stdout, '1 file, 0 faults\n');

    const service = await startTestService({}, { root: folder });
    writeFiles(folder, { [pagePath(id)]: mainPage() });
    await eventually(async () => (await service.request(`/api/v2/bots/${id}`)).status === 200);
    strictEqual(repo.status(), '?? bots/678/');
  });

  it('brings the samples, the branch and the check of the Git host that are named @slow', async () => {
    const folder = join(tempFolder(), 'a', "it's");
    const options = ['--samples', '--branch', 'trunk/2', '--host', 'gitlab'];
    const { code } = await botshelf(tempFolder(), ['init', folder, ...options]);
    strictEqual(code, 0);
    match(repositoryIn(folder).git('ls-files'), /^\.gitlab-ci\.yml\n\.gitlab\/CODEOWNERS$/m);
    match(
      readFileSync(join(folder, '.gitlab-ci.yml'), 'utf8'),
      /BOTSHELF: (?:file:\/\/\/|git\+https:\/\/\S+#[0-9a-f]{40}\n)/,
    );
    ok(!existsSync(join(folder, '.github')));
    strictEqual(repositoryIn(folder).git('symbolic-ref', 'HEAD'), 'refs/heads/trunk/2');
    const bot = '190519304972663312';
    const service = await startTestService({}, { root: folder });
    const token = await issueTestToken(folder, bot);
    const answer = await service.post(bot, token, { nsfw: true });
    strictEqual(answer.status, 200, answer.text);
    strictEqual(repositoryIn(folder).git('rev-list', '--count', 'HEAD'), '2');
  });

  for (const { title: checker, input, expected } of readCases('checkers'))
    it(`has the check of the host install ${checker} where that is the checker: ${input}`, async () => {
      const [file = '', shown = ''] = expected;
      const folder = join(tempFolder(), 'shelf');
      const options = ['--host', input, '--checker', checker];
      const { code, stdout } = await botshelf(tempFolder(), ['init', folder, ...options]);
      deepStrictEqual([code, stdout.includes(`${shown};`)], [0, true]);
      ok(readFileSync(join(folder, file), 'utf8').includes(` BOTSHELF: ${shown}\n`));
    });

  it('refuses what is no empty folder, and a name that is none for a branch, and leaves all as it was', async () => {
    const cwd = tempFolder();
    mkdirSync(join(cwd, 'full'));
    writeFileSync(join(cwd, 'full/x'), '');
    for (const { input, expected } of readCases('init-refusals')) {
      const { code, stdout, stderr } = await botshelf(cwd, input.split(' '), { cwd });
      deepStrictEqual([code, stdout, stderr], [2, '', `${expected[0]}\n`]);
    }
    ok(!existsSync(join(cwd, 'new')));
  });

  it('has an example for contributors that keeps every rule', async () => {
    const folder = tempFolder();
    copyTemplate(folder, false, 'github');
    const indented = /^ {3}```text\n( {3}---\n[^]*?)^ {3}```$/m.exec(
      readFileSync(join(folder, 'README.md'), 'utf8'),
    )?.[1];
    writeFiles(folder, { [pagePath(id)]: (indented ?? '').replaceAll(/^ {3}/gm, '') });
    deepStrictEqual(await checkCatalogue(createFolderSource(folder), 'everything'), {
      files: 1,
      findings: [],
    });
  });
});
