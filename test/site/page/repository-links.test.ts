import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { createNamedLinks, createRepositoryLinks } from '../../../src/site/page/repository-links.ts';

const path = 'bots/312/190519304972663312.en.md';
const linksOf = (remote: string, branch = 'main', prefix = ''): ReturnType<typeof createRepositoryLinks> =>
  createRepositoryLinks({ remote, branch, prefix });

describe('links to the Git host', () => {
  it('come from the address of the remote, in whatever form, and never carry its credentials', () => {
    for (const remote of [
      'https://github.com/o/r.git',
      'https://github.com/o/r',
      'https://github.com/o/r/',
      'https://me:ghp_secret@github.com/o/r.git',
      'git@github.com:o/r.git',
      'ssh://git@github.com/o/r.git',
      'ssh://git@github.com:22/o/r',
      'git://github.com/o/r.git',
    ])
      strictEqual(linksOf(remote)?.edit(path), `https://github.com/o/r/edit/main/${path}`, remote);
    strictEqual(linksOf('git@github.com:o/r.git')?.home, 'https://github.com/o/r');
  });

  const name = encodeURIComponent(path);
  for (const [home, edit, history, commit, create] of [
    ['github.com/o/r', 'edit/main', 'commits/main', 'commit', `new/main?filename=${name}&value=a+%26+b`],
    ['gitlab.com/a/b/r', '-/edit/main', '-/commits/main', '-/commit', `-/new/main?file_name=${name}`],
    ...['codeberg.org/o/r', 'gitea.example.org/o/r', 'forgejo.example.org/o/r'].map((home) => {
      const create = `_new/main?filename=${name}&value=a+%26+b`;
      return [home, '_edit/main', 'commits/branch/main', 'commit', create] as const;
    }),
  ] as const)
    it(`lead to the editor, the history, a commit and a new file on ${home}`, () => {
      const links = linksOf(`https://${home}.git`);
      const at = (end: string): string => `https://${home}/${end}`;
      deepStrictEqual(
        [links?.edit(path), links?.history(path), links?.commit('1a'), links?.create(path, 'a & b')],
        [
          ...[edit, history].map((end) => at(`${end}/${path}`)),
          at(`${commit}/1a`),
          { href: at(create), filled: create.includes('value') },
        ],
      );
    });

  it('open a new file on GitHub, filled in, but not where the text is too long for an address', () => {
    const links = linksOf('git@github.com:o/r.git');
    const text = '---\n{}\n---\n\na & b = c # d';
    strictEqual(new URL(links?.create(path, text).href ?? '').searchParams.get('value'), text);
    deepStrictEqual(links?.create(path, 'x'.repeat(9000)), {
      href: `https://github.com/o/r/new/main?filename=${name}`,
      filled: false,
    });
  });

  it('have the branch and the folder of the catalogue, and escape what is in a path', () => {
    const links = linksOf('git@github.com:o/r.git', 'release/1.x', 'catalogue/');
    strictEqual(links?.history(path), `https://github.com/o/r/commits/release/1.x/catalogue/${path}`);
    strictEqual(
      linksOf('git@github.com:o/r.git', 'a#b?c', '"x"/')?.edit(path),
      `https://github.com/o/r/edit/a%23b%3Fc/%22x%22/${path}`,
    );
  });

  for (const [host, called] of [
    ['github.com', 'GitHub'],
    ['gitlab.example.org', 'GitLab'],
    ['codeberg.org', 'Codeberg'],
    ['git.forgejo.example.org', 'Forgejo'],
    ['gitea.com', 'Gitea'],
    ['git.example.org', null],
  ] as const)
    it(`call the host ${host} ${called ?? 'nothing'}`, () =>
      strictEqual(linksOf(`https://${host}/o/r.git`)?.host, called));

  for (const remote of [
    '/srv/git/catalogue.git',
    '../catalogue.git',
    'file:///srv/git/catalogue.git',
    'https://unknown.example.org/o/r.git',
    'https://github.com/',
    'javascript:alert(1)//github.com/o/r',
    'ext::sh -c touch% x',
    '',
  ])
    it(`are not made up for ${JSON.stringify(remote)}`, () => strictEqual(linksOf(remote), null));
});

describe('the links that settings name', () => {
  it('have the path of the file, encoded', () => {
    const host = 'https://code.example.org/bots';
    const links = createNamedLinks({
      home: host,
      edit: `${host}/edit/{path}`,
      new: `${host}/new?file={path}`,
      history: `${host}/log/{path}`,
    });
    strictEqual(links.edit('bots/007/7 $&.md'), `${host}/edit/bots/007/7%20%24%26.md`);
    strictEqual(links.history('a/b'), `${host}/log/a/b`);
    deepStrictEqual(links.create('a/b', 'text'), { href: `${host}/new?file=a/b`, filled: false });
  });
});
