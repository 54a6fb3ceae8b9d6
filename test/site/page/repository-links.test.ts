import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { createNamedLinks, createRepositoryLinks } from '../../../src/site/page/repository-links.ts';

const path = 'bots/312/190519304972663312.en.md';
const linksOf = (remote: string, branch = 'main', prefix = ''): ReturnType<typeof createRepositoryLinks> =>
  createRepositoryLinks({ remote, branch, prefix });

describe('links to the Git host', () => {
  for (const remote of [
    'https://github.com/o/r.git',
    'https://github.com/o/r',
    'https://github.com/o/r/',
    'git@github.com:o/r.git',
    'ssh://git@github.com/o/r.git',
    'ssh://git@github.com:22/o/r',
    'git://github.com/o/r.git',
  ]) {
    it(`come from ${remote}`, () => strictEqual(linksOf(remote)?.home, 'https://github.com/o/r'));
  }

  it('never carry the credentials of a remote', () =>
    strictEqual(linksOf('https://me:ghp_secret@github.com/o/r.git')?.edit(path).includes('secret'), false));

  it('lead to the editor and the history of a file on GitHub', () => {
    const links = linksOf('git@github.com:o/r.git', 'release/1.x', 'catalogue/');
    strictEqual(links?.edit(path), `https://github.com/o/r/edit/release/1.x/catalogue/${path}`);
    strictEqual(links.history(path), `https://github.com/o/r/commits/release/1.x/catalogue/${path}`);
  });

  it('lead to the editor and the history of a file on GitLab, in a group of groups', () => {
    const links = linksOf('https://gitlab.example.org/a/b/r.git');
    strictEqual(links?.edit(path), `https://gitlab.example.org/a/b/r/-/edit/main/${path}`);
    strictEqual(links.history(path), `https://gitlab.example.org/a/b/r/-/commits/main/${path}`);
    strictEqual(links.commit('1a'), 'https://gitlab.example.org/a/b/r/-/commit/1a');
  });

  for (const host of ['codeberg.org', 'gitea.example.org', 'forgejo.example.org']) {
    it(`lead to the editor and the history of a file on ${host}`, () => {
      const links = linksOf(`https://${host}/o/r.git`);
      strictEqual(links?.edit(path), `https://${host}/o/r/_edit/main/${path}`);
      strictEqual(links.history(path), `https://${host}/o/r/commits/branch/main/${path}`);
      deepStrictEqual(links.create(path, 'a & b'), {
        href: `https://${host}/o/r/_new/main?filename=${encodeURIComponent(path)}&value=a+%26+b`,
        filled: true,
      });
    });
  }

  it('open a new file on GitHub, filled in', () => {
    const link = linksOf('git@github.com:o/r.git')?.create(path, '---\n{}\n---\n\na & b = c # d');
    const { pathname, searchParams } = new URL(link?.href ?? '');
    strictEqual(pathname, '/o/r/new/main');
    strictEqual(searchParams.get('filename'), path);
    strictEqual(searchParams.get('value'), '---\n{}\n---\n\na & b = c # d');
  });

  it('open a new file with its name only on GitLab, and where the text is too long for an address', () => {
    const name = encodeURIComponent(path);
    deepStrictEqual(linksOf('git@github.com:o/r.git')?.create(path, 'x'.repeat(9000)), {
      href: `https://github.com/o/r/new/main?filename=${name}`,
      filled: false,
    });
    deepStrictEqual(linksOf('git@gitlab.com:o/r.git')?.create(path, 'text'), {
      href: `https://gitlab.com/o/r/-/new/main?file_name=${name}`,
      filled: false,
    });
  });

  for (const [host, name] of [
    ['github.com', 'GitHub'],
    ['gitlab.example.org', 'GitLab'],
    ['codeberg.org', 'Codeberg'],
    ['git.forgejo.example.org', 'Forgejo'],
    ['gitea.com', 'Gitea'],
    ['git.example.org', null],
  ] as const) {
    it(`call the host ${host} ${name ?? 'nothing'}`, () =>
      strictEqual(linksOf(`https://${host}/o/r.git`)?.host, name));
  }

  it('escape what is in a path', () =>
    strictEqual(
      linksOf('git@github.com:o/r.git', 'a#b?c', '"x"/')?.edit(path),
      `https://github.com/o/r/edit/a%23b%3Fc/%22x%22/${path}`,
    ));

  for (const remote of [
    '/srv/git/catalogue.git',
    '../catalogue.git',
    'file:///srv/git/catalogue.git',
    'https://unknown.example.org/o/r.git',
    'https://github.com/',
    'javascript:alert(1)//github.com/o/r',
    'ext::sh -c touch% x',
    '',
  ]) {
    it(`are not made up for ${JSON.stringify(remote)}`, () => strictEqual(linksOf(remote), null));
  }
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
