import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { checkOutside, checkPath, checkSwaps } from '../../src/check/change-rules.ts';
import type { Finding } from '../../src/check/check.ts';
import type { ChangedFile } from '../../src/git/changed-files.ts';
import { saysWhatToDo } from '../support/pull-request.ts';
import { pagePath } from '../support/sample.ts';

const id = '190519304972663312';
const [english, french] = [pagePath(id), pagePath(id, 'fr')];

/** A change of a file, which is new where nothing else is said. */
function change(path: string, values: Partial<ChangedFile> = {}): ChangedFile {
  return { path, previousPath: null, kind: 'file', blob: null, ...values };
}

function describeFindings(findings: readonly Finding[]): string[] {
  for (const { message } of findings) match(message, saysWhatToDo);
  return findings.map(({ path, rule, severity }) => `${path} ${rule} ${severity}`);
}

describe('a changed path', () => {
  it('is refused where it has no place in a catalogue', () => {
    const refused: [string, string, Partial<ChangedFile>?][] = [
      ['module', 'submodule', { kind: 'submodule' }],
      ['.gitmodules', 'submodule'],
      ['docs', 'regular-file', { kind: 'symlink' }],
      ['bots', 'regular-file', { kind: 'symlink' }],
      ['bots', 'regular-file'],
      ['botshelf.json/a', 'regular-file'],
      ['blocked.json/a', 'regular-file'],
      ['BOTS/1', 'file-name'],
      ['Botshelf.json', 'file-name'],
      ['Blocked.json', 'file-name'],
      ['People/1.json', 'file-name'],
      ['Collections', 'file-name'],
      ['Var', 'file-name'],
      ['var', 'service-folder'],
      ['var/journal', 'service-folder'],
      ['a\nb', 'file-name'],
      ['a\u202eb', 'file-name'],
      ['a\uFFFDb', 'file-name'],
      ['a\u2028b', 'file-name'],
      ['collections/con.en.md', 'file-name'],
      ['NUL', 'file-name'],
      ['docs/Lpt1/a', 'file-name'],
      ['docs/a:b', 'file-name'],
      ['docs/a ', 'file-name'],
      ['docs./a', 'file-name'],
      [pagePath('7'), 'id-stays', { previousPath: english }],
    ];
    for (const [path, rule, values] of refused)
      deepStrictEqual(describeFindings(checkPath(change(path, values))), [`${path} ${rule} error`]);
  });

  it('is fine elsewhere, and where it is gone', () => {
    const fine: [string, Partial<ChangedFile>?][] = [
      ['.gitmodules/a'],
      ['botshelf.json'],
      ['botshelf.json.md'],
      ['bots/007/a\nb'],
      ['various'],
      ['a/var/b'],
      ['a/Bots'],
      [french, { previousPath: english }],
      [english, { previousPath: english }],
      [english, { previousPath: 'notes.md' }],
      ['notes.md', { previousPath: english }],
      ['var/journal', { kind: 'gone' }],
    ];
    for (const [path, values] of fine) deepStrictEqual(checkPath(change(path, values)), [], path);
  });

  it('has at most 1,024 bytes, and 255 in each name', () => {
    const names = `${'ü'.repeat(127)}x/`.repeat(4);
    strictEqual(Buffer.byteLength(names), 1024);
    for (const path of [names.slice(0, -1), `${names.slice(0, -2)}/y`, 'n'.repeat(255)])
      deepStrictEqual(checkPath(change(path)), []);
    for (const path of [`${names}y`, 'n'.repeat(256), `a/${'ü'.repeat(128)}`]) {
      deepStrictEqual(describeFindings(checkPath(change(path))), [`${path.slice(0, 60)}… file-name error`]);
      deepStrictEqual(checkOutside(change(path)), []);
    }
  });
});

describe('a changed path outside bots/', () => {
  it('is a warning where a Git host or a build service decides by it how changes are checked', () => {
    const hosts =
      '.github .gitlab .forgejo .gitea .woodpecker .circleci .buildkite .semaphore .tekton .builds';
    const files =
      '.gitlab-ci.yml .woodpecker.yaml .drone.star .drone.jsonnet .travis.yml .cirrus.yml .build.yml .appveyor.yml appveyor.yaml azure-pipelines.yml bitbucket-pipelines.yml Jenkinsfile JENKINSFILE CODEOWNERS docs/CODEOWNERS blocked.json';
    for (const path of [...hosts.split(' ').map((host) => `${host}/a`), ...files.split(' ')])
      deepStrictEqual(describeFindings(checkOutside(change(path))), [`${path} checks-changed warning`]);
  });

  it('is a notice elsewhere, and another for the account that a profile is of', () => {
    const elsewhere =
      '.github a/.github/b x.github/a .travis.yml.md a/.travis.yml .travisyml .other.yml travis.yml appveyor.yml.md my-appveyor.yml appveyoryml a/Jenkinsfile Jenkinsfile.md a/CODEOWNERS docs/CODEOWNERS.md blocked.json.md my-blocked.json people people/ada.json botsmith/a notes';
    for (const path of elsewhere.split(' '))
      deepStrictEqual(describeFindings(checkOutside(change(path))), [`${path} outside-bots notice`]);
    deepStrictEqual(describeFindings(checkOutside(change('people/1.json'))), [
      'people/1.json profile-changed notice',
    ]);
    deepStrictEqual(describeFindings(checkOutside(change('collections/1.json'))), [
      'collections/1.json outside-bots notice',
    ]);
    for (const path of ['bots', english]) deepStrictEqual(checkOutside(change(path)), []);
  });

  it('is named with where it was, but once where it stays, and not where it was when it is gone', () => {
    const [first, second] = ['a outside-bots notice', 'b outside-bots notice'];
    const find = (values: Partial<ChangedFile>): string[] =>
      describeFindings(checkOutside(change('a', values)));
    deepStrictEqual(find({ previousPath: 'b' }), [first, second]);
    deepStrictEqual(find({ previousPath: 'a' }), [first]);
    deepStrictEqual(find({ previousPath: english }), [first]);
    deepStrictEqual(find({ previousPath: 'b', kind: 'gone' }), [first]);
  });

  it('is refused where a file becomes a folder or a folder a file, at any depth, and not below bots/', () => {
    const swap = (before: string, now: string): string[] =>
      checkSwaps([change(before, { previousPath: before, kind: 'gone' }), change(now)]).map(
        ({ path, rule, message }) => `${path} ${rule} ${message.split(':')[0]}`,
      );
    deepStrictEqual(swap('a', 'a/b/c'), ['a kind-stays this was a file and becomes a folder']);
    deepStrictEqual(swap('a/b', 'a/b/c'), ['a/b kind-stays this was a file and becomes a folder']);
    deepStrictEqual(swap('a/b/c', 'a/b'), ['a/b kind-stays this was a folder and becomes a file']);
    for (const [before, now] of [
      ['a/b', 'c'],
      ['a/b', 'a/c'],
      ['bots/007', 'bots/007/7.en.md'],
    ] as const)
      deepStrictEqual(swap(before, now), []);
  });
});
