import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Attention } from '../../src/site/discover/attention.ts';
import { takeInstanceLock } from '../../src/git/branch/instance-lock.ts';
import { cleanUp } from '../support/cleanup.ts';
import { botshelf } from '../support/command-line.ts';
import { testRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { commitCounts } from '../support/counts.ts';
import { tempFolder } from '../support/temp-folder.ts';

const daySeconds = 86_400;

/** A bot that is like no other. */
function page(id: string, keys: Readonly<Record<string, unknown>> = {}): string {
  return mainPage({ name: `Bot ${id}`, invite: invite(id, 0), ...keys });
}

function invite(id: string, permissions: number): string {
  return `https://discord.com/oauth2/authorize?client_id=${id}&scope=bot&permissions=${permissions}`;
}

/** A clone in which something of each kind needs attention. */
function cloneWithAll(): string {
  const today = Math.floor(Date.now() / 1000 / daySeconds) * daySeconds;
  const repo = testRepository({
    [pagePath('1')]: page('1'),
    [pagePath('2')]: page('2', { name: 'bot 3' }),
    [pagePath('3')]: page('3', { created: 1_800_000_000_000 }),
    [pagePath('5')]: page('5', { images: { avatar: 'https://127.0.0.1/a.png', cover: null, preview: [] } }),
    [pagePath('6')]: '---\n{}\n---\n',
    [pagePath('7')]: page('7'),
    [pagePath('8')]: page('8'),
    [pagePath('9')]: page('9'),
  });
  const date = `${today - 9 * daySeconds} +0000`;
  execFileSync('git', ['commit', '-q', '--amend', '--no-edit'], {
    cwd: repo.folder,
    env: { ...process.env, GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@b.c', GIT_COMMITTER_DATE: date },
  });
  repo.commit({ [pagePath('1')]: page('1', { invite: invite('1', 8) }) });
  commitCounts(repo.folder, [
    { time: today - 40 * daySeconds, counts: { 7: 5, 8: 20_000 } },
    { time: today - 2 * daySeconds + 60, counts: { 8: 30 } },
  ]);
  return repo.folder;
}

describe('botshelf report', () => {
  let root: string;
  before('make a clone, and have its picture fail', async () => {
    root = cloneWithAll();
    await botshelf(root, ['images']);
  });

  it('prints a heading for each kind and a line for each item, and changes nothing', async () => {
    const before = readdirSync(join(root, 'var')).toSorted();
    const { code, stdout, stderr } = await botshelf(root, ['report'], {
      env: { BOTSHELF_BASE_URL: 'https://bots.example.org' },
    });
    deepStrictEqual([code, stderr], [0, '']);
    const day = String.raw`\w+ \d+, \d{4}`;
    const edit = (id: number): string => `Edit: https://bots\\.example\\.org/bots/${id}/edit`;
    const lines = [
      '# Needs attention',
      '## Ask for Administrator since a change \\(1\\)',
      `- \` Bot 1 \` \\(1\\) Asks for Administrator, and did not on ${day} ${edit(1)}`,
      '## Files with errors \\(1\\)',
      '- \\(6\\) Error in ` bots/006/6\\.en\\.md ` ` .+ `',
      '## Possible duplicates \\(1\\)',
      `- \` Bot 3 \` \\(3\\) Same name as 2 ${edit(3)}`,
      '## Server counts that jump \\(1\\)',
      `- \` Bot 8 \` \\(8\\) ${day}: from 20,000 to 30 ${edit(8)}`,
      '## Images that cannot be fetched \\(1\\)',
      `- \` Bot 5 \` \\(5\\) Avatar: \` https://127\\.0\\.0\\.1/a\\.png \`, since ${day} \` leads to an address that is not public \` ${edit(5)}`,
      '## No new server count \\(1\\)',
      `- \` Bot 7 \` \\(7\\) 40 days without a new count ${edit(7)}`,
    ];
    match(stdout, new RegExp(`^${lines.join('\n\n')}\n$`));
    deepStrictEqual(readdirSync(join(root, 'var')).toSorted(), before);
  });

  it('prints JSON in the documented shape', async () => {
    const { code, stdout } = await botshelf(root, ['report', '--json']);
    strictEqual(code, 0);
    const { groups, isComplete } = JSON.parse(stdout) as Attention;
    strictEqual(isComplete, true);
    const found = groups.map(({ kind, total, items }) => {
      const { kind: own, bot, name, fixPath, values = {} } = items[0] ?? {};
      return [kind, total, own, bot, name, fixPath, Object.keys(values).toSorted().join(' ')];
    });
    const toRow = (kind: string, id: string, keys: string): unknown[] => {
      return [kind, 1, kind, id, `Bot ${id}`, `/bots/${id}/edit`, keys];
    };
    const toEmpty = (kind: string): unknown[] => [kind, 0, ...Array.from({ length: 4 }), ''];
    deepStrictEqual(found, [
      toEmpty('blocked'),
      toRow('administrator-added', '1', 'since'),
      ['faulty-file', 1, 'faulty-file', '6', null, null, 'message path'],
      toRow('near-duplicate', '3', 'others same'),
      toRow('count-jump', '8', 'after before since'),
      toRow('image-failed', '5', 'key message since url'),
      toRow('no-count', '7', 'days'),
    ]);
  });

  it('lets no name forge a link, a mention, a heading or a line @slow', async () => {
    const name = '@all [x](//e.example) ` ``` <!--';
    const files = { [pagePath('1')]: page('1', { name }), [pagePath('2')]: page('2', { name }) };
    const { stdout } = await botshelf(testRepository(files).folder, ['report']);
    const [line = ''] = stdout.split('\n').filter((text) => text.startsWith('- '));
    strictEqual(line, `- \`\`\`\` ${name} \`\`\`\` (2) Same name as 1 Edit: /bots/2/edit`);
    const hidden = page('3', { name: 'A\u202Eb' });
    const { folder } = testRepository({ [pagePath('3')]: hidden, [pagePath('4')]: hidden });
    match((await botshelf(folder, ['report'])).stdout, /^- ` A b ` \(4\)/m);
  });

  it('says that all is well', async () => {
    const { folder } = testRepository({ [pagePath('1')]: page('1') });
    const stdout = '# Needs attention\n\nNothing needs attention.\n';
    deepStrictEqual(await botshelf(folder, ['report']), { code: 0, stdout, stderr: '' });
  });

  it('works beside a service, and without Git says what was not looked at @slow', async () => {
    const lock = await takeInstanceLock(join(root, 'var'));
    cleanUp(lock.release);
    const { code, stdout } = await botshelf(root, ['report']);
    strictEqual(code, 0);
    match(stdout, /Possible duplicates \(1\)/);
    const bare = tempFolder({ [pagePath('6')]: '---\n{}\n---\n' });
    const alone = await botshelf(bare, ['report']);
    match(alone.stdout, /## Files with errors \(1\)[^]*Git cannot be read/);
    deepStrictEqual(readdirSync(bare), ['bots']);
  });

  it('says in one line that there is no catalogue, as images does', async () => {
    for (const command of ['report', 'images']) {
      const { code, stderr } = await botshelf(tempFolder(), [command]);
      match(stderr, /^\/.+ has no folder bots\/: .*BOTSHELF_CATALOGUE.*\n$/);
      strictEqual(code, 2);
    }
  });
});
