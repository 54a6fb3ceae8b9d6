import { deepStrictEqual, fail, strictEqual } from 'node:assert/strict';
import { createNamedLinks, createRepositoryLinks } from '../../../src/site/page/repository-links.ts';
import { fixtureLines, readCases } from '../../support/fixture-lines.ts';

const path = 'bots/312/190519304972663312.en.md';
const linksOf = (remote: string, branch = 'main', prefix = ''): ReturnType<typeof createRepositoryLinks> =>
  createRepositoryLinks({ remote, branch, prefix });

describe('links to the Git host', () => {
  for (const { input, expected } of readCases('host-links'))
    it(`come from ${input}, and have the paths of its host`, () => {
      const links = linksOf(input);
      const { href, filled } = links?.create(path, 'a & b') ?? fail();
      const pages = [
        links?.home,
        links?.edit(path),
        links?.history(path),
        links?.commit('1a'),
        href,
        String(filled),
      ];
      deepStrictEqual([String(links?.host), ...pages], expected);
    });

  it('are the same for every form of an address, without the credentials in it', () => {
    for (const remote of fixtureLines('github-remotes.txt'))
      strictEqual(linksOf(remote)?.edit(path), linksOf('https://github.com/o/r.git')?.edit(path), remote);
  });

  const name = encodeURIComponent(path);
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

  for (const remote of ['https://github.com/', '', ...fixtureLines('remotes-without-pages.txt')])
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
