import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCases } from '../../support/fixture-lines.ts';
import { eventually } from '../../support/eventually.ts';
import { runPipeline } from '../../support/pipeline.ts';
import { repositoryIn, testRepository } from '../../support/repository.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { originRemote, startTestService } from '../../support/service.ts';
import { sharedRepository } from '../../support/shared-repository.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { issueTestToken } from '../../support/token.ts';
import { readPackageFile } from '../../support/package-files.ts';

const ownersFiles = { github: '.github/CODEOWNERS', gitlab: '.gitlab/CODEOWNERS', forgejo: 'CODEOWNERS' };
const id = '123456789012345678';

describe('a pull request, from fork to merge', () => {
  it('fails with annotations, is fixed, passes, is merged, and is shown together with what was posted in between', async () => {
    const shared = sharedRepository({ [pagePath(id)]: mainPage({ website: null }) });
    const clone = shared.clone();
    const token = await issueTestToken(clone.folder, id);
    const service = await startTestService({}, { root: clone.folder, env: originRemote });
    service.expectLog(/not in step with the remote: .*away/);
    service.expectLog(/set aside \\"category\\" from this clone in .*, as people changed the same/);
    const record = async (): Promise<unknown[]> => {
      const { json } = await service.request(`/api/v2/bots/${id}`);
      return [json.category, json.website, json.contents.en.description];
    };

    const fork = repositoryIn(tempFolder());
    fork.git('clone', '-q', shared.folder, '.');
    fork.git('switch', '-q', '-c', 'edit-homer');
    const bad = fork.commit({
      [pagePath(id)]: mainPage({ website: null, category: 'books', invite: 'http://example.org' }),
    });
    shared.git('fetch', '-q', fork.folder, 'edit-homer:refs/pull/1/head');
    const failed = runPipeline('github', shared, bad);
    strictEqual(failed.code, 1, failed.stderr);
    match(failed.stdout, /^::error file=bots\/678\/\d+\.en\.md,line=8,col=15,title=enum::category: "books"/m);
    match(failed.stdout, /^::error file=bots\/678\/\d+\.en\.md,line=10,col=13,title=pattern::invite: /m);
    match(failed.stdout, /^Almost there\. /m);
    match(failed.stdout, /^- bots\/678\/\d+\.en\.md:8:15 enum category: .+: choose moderation, /m);

    clone.git('remote', 'set-url', 'origin', `${shared.address}.away`);
    const posted = await service.post(id, token, {
      category: 'music',
      website: 'https://example.org/posted',
    });
    strictEqual(posted.status, 200);
    await eventually(() => match(service.log(), /not in step with the remote/));

    const good = fork.commit(
      { [pagePath(id)]: mainPage({ website: null, category: 'games', description: 'Plays and wins.' }) },
      'Mend it',
    );
    shared.git('fetch', '-q', fork.folder, 'edit-homer:refs/pull/1/head');
    const passed = runPipeline('github', shared, good);
    deepStrictEqual([passed.code, passed.stdout], [0, '1 file, 0 faults\n'], passed.stderr);
    shared.mergePullRequest((person) => {
      person.git('fetch', '-q', 'origin', 'refs/pull/1/head');
      person.git('merge', '-q', 'FETCH_HEAD');
    });
    clone.git('remote', 'set-url', 'origin', shared.address);

    const both = ['games', 'https://example.org/posted', 'Plays and wins.'];
    await eventually(async () => deepStrictEqual(await record(), both));
    await eventually(() => strictEqual(shared.git('rev-parse', 'main'), clone.git('rev-parse', 'HEAD')));
    const commits = shared.git('rev-list', 'main').split('\n');
    ok(commits.includes(posted.json.commit) && commits.includes(good));
    match(shared.git('log', '--format=%B', `${good}..main`), /^Set aside, .+\n- ".+": category$/m);
    await eventually(() => strictEqual(clone.status(), ''));
  });

  it('runs nothing that it brings: scripts, settings, hooks, filters', () => {
    const origin = testRepository({ [pagePath('7')]: mainPage(), 'package.json': '{}' });
    const base = origin.git('rev-parse', 'HEAD');
    const ran = join(tempFolder(), 'ran');
    const program = `#!/bin/sh\ntouch '${ran}'\n`;
    const commands = { preinstall: `touch '${ran}'`, prepare: `touch '${ran}'`, build: `touch '${ran}'` };
    const fork = repositoryIn(tempFolder());
    fork.git('clone', '-q', origin.folder, '.');
    fork.write('.githooks/post-checkout', program);
    chmodSync(join(fork.folder, '.githooks/post-checkout'), 0o755);
    const head = fork.commit({
      'package.json': JSON.stringify({ scripts: commands }),
      '.npmrc': 'ignore-scripts=false\n',
      'dist/src/main.js': `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(ran)}, '');`,
      '.gitattributes': '* filter=run\n',
      [pagePath('8')]: mainPage({ name: 'Eight', invite: 'https://example.org/8' }),
    });
    origin.git('fetch', '-q', fork.folder, `${head}:refs/pull/1/head`);
    const { code, stdout, clone } = runPipeline('forgejo', origin, head);
    strictEqual(code, 1);
    match(stdout, /^\.\/\.gitattributes:1:3 git-attributes "filter=run" makes Git run a program/);
    strictEqual(existsSync(ran), false);
    strictEqual(clone.git('rev-parse', 'HEAD'), base);
    deepStrictEqual(readdirSync(clone.folder), ['.git']);
  });

  it('is judged against the branch as it is now, not as it was when the pull request was made @long', () => {
    const origin = testRepository({ [pagePath('7')]: mainPage() });
    origin.git('switch', '-q', '-c', 'pull');
    const page = mainPage({ name: 'Eight', invite: 'https://example.org/8' });
    const head = origin.commit({ [pagePath('8')]: page });
    origin.git('switch', '-q', 'main');
    strictEqual(runPipeline('gitlab', origin, head).stdout, '1 file, 0 faults\n');
    origin.commit({ [pagePath('8', 'fr')]: page });
    const { code, stdout } = runPipeline('gitlab', origin, head);
    strictEqual(code, 1);
    match(stdout, /^bots\/008\/8\.en\.md:1:1 one-main-page bots\/008\/8\.fr\.md is a main page too/m);
  });

  it('is not checked when its objects are broken, such as a folder with one name twice', () => {
    const origin = testRepository({ [pagePath('7')]: mainPage() });
    const [blob, tree] = ['HEAD:.gitignore', 'HEAD:bots'].map((name) => origin.git('rev-parse', name));
    const entry = (mode: string, id = ''): Buffer =>
      Buffer.concat([Buffer.from(`${mode} notes\0`), Buffer.from(id, 'hex')]);
    const entries = Buffer.concat([entry('100644', blob), entry('40000', tree)]);
    writeFileSync(join(origin.folder, 'var-tree'), entries);
    const twice = origin.git('hash-object', '-w', '-t', 'tree', '--literally', 'var-tree');
    const head = origin.git('commit-tree', '-p', 'HEAD', '-m', 'Twice', twice);
    origin.git('update-ref', 'refs/pull/1/head', head);
    const { code, stdout, stderr } = runPipeline('github', origin, head);
    deepStrictEqual([code, stdout], [2, '']);
    match(stderr, /duplicateEntries/);
    match(stderr, /^commit \w+ cannot be fetched from "origin", or has broken objects: /m);
  });

  for (const host of ['github', 'gitlab', 'forgejo'] as const)
    it(`is named by its commit and nothing else, and not checked without owners: ${host}`, () => {
      const origin = testRepository({ [pagePath('7')]: mainPage() });
      const { code, stderr } = runPipeline(host, origin, '--upload-pack=touch x');
      strictEqual(code, 2, stderr);
      match(stderr, /^"--upload-pack=touch x" is not the id of a commit: /m);

      origin.commit({
        [ownersFiles[host]]: readPackageFile(`catalogue-template/${host}/${ownersFiles[host]}`),
      });
      const refused = runPipeline(host, origin, origin.git('rev-parse', 'HEAD'));
      strictEqual(refused.code, 1, refused.stderr);
      match(refused.stdout, /Put your own names into .*CODEOWNERS: see MAINTAINERS\.md\n$/);
    });
});

describe('the workflows of GitHub', () => {
  const files = [
    '.github/workflows/catalogue.yml',
    'catalogue-template/github/.github/workflows/catalogue.yml',
  ];

  it('run the checker on the base of a pull request', () => {
    for (const file of files) {
      const text = readPackageFile(file);
      match(text, /^on:\n {2}pull_request:\n\n/m, 'it is never skipped, as it is required');
      match(text, / check --base HEAD --head "\$HEAD_SHA" --fetch origin --format github$/m);
      match(text, /^ {10}ref: refs\/heads\/\$\{\{ github\.event\.pull_request\.base\.ref \}\}$/m);
    }
  });
});

describe('the owners of what is no page', () => {
  for (const [file, ...wanted] of [
    ['.github/CODEOWNERS', /^\* @\S+$/, /^\/bots\/\*\*$/],
    ['catalogue-template/github/.github/CODEOWNERS', /^\* @OWNERS$/, /^\/bots\/\*\*$/],
    ['catalogue-template/gitlab/.gitlab/CODEOWNERS', /^\* @OWNERS$/, /^!\/bots\/\*\*$/],
    ['catalogue-template/forgejo/CODEOWNERS', /^!bots\/\.\* @OWNERS$/],
  ] as const)
    it(`have to approve everything but bots/: ${file}`, () => {
      const rules = readPackageFile(file)
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'));
      strictEqual(rules.length, wanted.length);
      for (const [i, rule] of rules.entries()) match(rule, wanted[i] ?? /^$/);
    });
});

describe('the problem matcher', () => {
  const { problemMatcher } = JSON.parse(readPackageFile('.github/problem-matcher.json')) as {
    problemMatcher: { pattern: { regexp: string }[] }[];
  };
  const pattern = new RegExp(problemMatcher[0]?.pattern[0]?.regexp ?? '');

  it('shows the findings of check as text', () => {
    for (const { input, expected } of readCases('matched-findings'))
      strictEqual(pattern.exec(input)?.slice(1).join('|'), expected[0]);
  });
});
