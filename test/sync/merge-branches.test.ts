import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { withValues } from '../../src/catalogue/page/page.ts';
import { printCommands } from '../../src/bot/commands.ts';
import { maxObjectBytes } from '../../src/git/objects.ts';
import type { Repository } from '../../src/git/repository.ts';
import { type BranchMerge, mergeBranches, replayOnto } from '../../src/sync/integration.ts';
import { type DroppedEdit, mergeFiles } from '../../src/sync/merge-files.ts';
import { openUntilEnd } from '../support/opened.ts';
import { testRepository, type TestRepository } from '../support/repository.ts';
import { commandsPath, mainPage, pagePath, translation } from '../support/sample.ts';

const homer = pagePath('312');
const [marge, bart] = [pagePath('7'), pagePath('8')];
const german = pagePath('312', 'de');
const page = mainPage({ website: null, edited: 1_700_000_000_000 });
const edited = page.replace('"fun"', '"music"').replace('"edited": 17', '"edited": 18');

/** Each of two sides as ours. */
const bothWays = <T>(one: T, other: T): (readonly [ours: T, theirs: T])[] => [
  [one, other],
  [other, one],
];

/** Files, or what makes them where the first commit is checked out. */
type Work = Readonly<Record<string, string | null>> | (() => unknown);

const ofService = 'Update Homer (312): website\n\nBot: 312';

const [later, people, remote] = [
  'a later post changed the same',
  'people changed the same',
  'the remote has changed the same',
] as const;

describe('the merge of two branches', () => {
  let repository: TestRepository;
  let opened: Repository;
  let base: string;
  beforeEach(async () => {
    repository = testRepository({ [homer]: page, [marge]: page, 'docs/a.md': 'one\ntwo\nthree\n' });
    base = repository.git('rev-parse', 'HEAD');
    opened = await openUntilEnd(repository.folder);
  });

  it('merges lines that stand side by side, where Git sees a conflict', async () => {
    const { commit, droppedEdits } = await merge(
      { [homer]: edited },
      { [homer]: page.replace('"authors"', '"nsfw": true,\n  "authors"').replace('Answers', 'Asks') },
    );
    const text = textAt(commit, homer);
    for (const part of ['"music"', '"edited": 18', '"nsfw": true', 'Asks']) match(text, new RegExp(part));
    deepStrictEqual([...droppedEdits], []);
  });

  it('follows a page that theirs has moved to another language', async () => {
    const moved = pagePath('312', 'de');
    const { commit } = await merge({ [homer]: edited }, () => {
      repository.git('mv', homer, moved);
      repository.write(moved, page.replace('Answers', 'Antwortet'));
    });
    const text = textAt(commit, moved);
    match(text, /"music"/);
    match(text, /Antwortet/);
    strictEqual(repository.tryGit('cat-file', '-e', `${commit}:${homer}`), 128);
  });

  it('keeps what both sides changed of a page that one of them moved, and nothing is set aside', async () => {
    const [posting, moving] = [commitOf({ [homer]: edited }), move({ nsfw: true })];
    for (const [ours, theirs] of bothWays(posting, moving))
      for (const run of [mergeBranches, replayOnto]) {
        const { commit, droppedEdits } = await run(opened, { base, ours, theirs });
        const text = textAt(commit, german);
        for (const part of ['"music"', '"nsfw": true', '"edited": 18', 'Antwortet'])
          match(text, new RegExp(part));
        strictEqual(repository.tryGit('cat-file', '-e', `${commit}:${homer}`), 128);
        deepStrictEqual([...droppedEdits], []);
      }
    const same = commitOf({ [homer]: germanPage({ nsfw: true }) });
    const { commit, droppedEdits } = await mergeBranches(opened, { base, ours: same, theirs: moving });
    deepStrictEqual([treeAt(commit), droppedEdits], [treeAt(moving), []]);
  });

  it('takes the later of two posts for a key of a page that one side moved, whichever side has it', async () => {
    const postThere = (website: string, time: number): string =>
      repository.commitOn(move({}), {
        files: { [german]: germanPage({ website, edited: 1_700_000_000_000 + time }) },
        message: ofService,
      });
    for (const [here, there] of [
      [9, 1],
      [1, 9],
    ] as const) {
      const sides = [
        post(`https://${here}.example/`, here),
        postThere(`https://${there}.example/`, there),
      ] as const;
      for (const [ours, theirs] of bothWays(...sides)) {
        const { commit, droppedEdits } = await mergeBranches(opened, { base, ours, theirs });
        match(textAt(commit, german), /"website": "https:\/\/9.example\/"/);
        deepStrictEqual(droppedEdits, [
          {
            path: german,
            what: 'website',
            of: (ours === sides[0]) === (here === 9) ? 'theirs' : 'ours',
            because: later,
          },
        ]);
      }
    }
  });

  it('takes no new bot for a removed one that was moved, whichever side has it', async () => {
    const added = page.replace('Homer', 'Bart');
    const [posting, replacing] = [commitOf({ [homer]: edited }), commitOf({ [homer]: null, [bart]: added })];
    const other = commitOf({ [homer]: null, [pagePath('9')]: added });
    for (const [ours, theirs] of [
      [posting, replacing],
      [replacing, posting],
      [replacing, other],
      [other, replacing],
    ] as const) {
      const { commit } = await mergeBranches(opened, { base, ours, theirs });
      strictEqual(`${textAt(commit, bart)}\n`, added);
    }
  });

  it('takes no new profile or collection for a removed one that was moved', async () => {
    const profile = '{\n  "name": "Homer",\n  "bio": "Makes bots.",\n  "website": "https://a.example"\n}\n';
    const collection = '{\n  "name": "Homer",\n  "bots": ["7", "8"]\n}\n---\nMakes bots.\n';
    for (const [removed, added, text] of [
      ['people/1.json', 'people/2.json', profile],
      ['collections/music.md', 'collections/fun.md', collection],
    ] as const) {
      base = repository.commitOn(base, { files: { [removed]: text } });
      const other = text.replace('Homer', 'Bart');
      const edited = text.replace('Makes bots', 'Answers');
      const { commit } = await merge({ [removed]: edited }, { [removed]: null, [added]: other });
      strictEqual(`${textAt(commit, added)}\n`, other);
      strictEqual(repository.tryGit('cat-file', '-e', `${commit}:${removed}`), 128);
    }
  });

  it('lets a removal by theirs stand, and says that ours was set aside', async () => {
    const { commit, droppedEdits } = await merge({ [homer]: edited }, { [homer]: null });
    strictEqual(repository.tryGit('cat-file', '-e', `${commit}:${homer}`), 128);
    deepStrictEqual(droppedEdits, [fileOf(homer)]);
    match(
      repository.git('log', '-1', '--format=%B', commit),
      /Set aside, as the remote has changed the same:/,
    );
  });

  it('removes what one side changed of a bot that the other removed, but not where only a translation went', async () => {
    const [commands, de, fr] = [commandsPath('312'), pagePath('312', 'de'), pagePath('312', 'fr')];
    const text = translation('Homer', 'Answers.');
    base = repository.commitOn(base, { files: { [de]: text, [commands]: printCommands([]) } });
    const added = { [commands]: printCommands([{ name: 'play' }]), [fr]: text };
    const changed = { ...added, [de]: translation('Homer', 'Asks.') };
    const changing = commitOf(changed);
    const removing = commitOf({ [homer]: null, [de]: null, [commands]: null });
    const filesOf = (commit: string): string =>
      repository.git('ls-tree', '--name-only', '-r', commit, 'bots/312');
    for (const merge of [mergeBranches, replayOnto])
      for (const [ours, theirs] of bothWays(changing, removing)) {
        const { commit, droppedEdits } = await merge(opened, { base, ours, theirs });
        strictEqual(filesOf(commit), '');
        const of = ours === changing ? 'ours' : 'theirs';
        deepStrictEqual(
          new Map(droppedEdits.map((edit) => [edit.path, edit.of])),
          new Map(Object.keys(changed).map((path) => [path, of])),
        );
      }
    const { commit, droppedEdits } = await merge(added, { [de]: null });
    deepStrictEqual([filesOf(commit), droppedEdits], [[commands, homer, fr].join('\n'), []]);
  });

  it('merges other files as Git does, and takes theirs where that is a conflict', async () => {
    const { commit } = await merge(
      { 'docs/a.md': 'ONE\ntwo\nthree\n' },
      { 'docs/a.md': 'one\ntwo\nTHREE\n' },
    );
    strictEqual(textAt(commit, 'docs/a.md'), 'ONE\ntwo\nTHREE');
    const other = await merge({ 'docs/a.md': 'mine\n' }, { 'docs/a.md': 'theirs\n' });
    strictEqual(repository.git('show', `${other.commit}:docs/a.md`), 'theirs');
    deepStrictEqual(other.droppedEdits, [fileOf('docs/a.md')]);
  });

  it('has the blocks of both sides, whether Git sees a conflict or not', async () => {
    const block = (...ids: string[]) => {
      const accounts = Object.fromEntries(ids.map((id) => [id, { reason: 'spam' }]));
      return { 'blocked.json': `${JSON.stringify({ accounts }, null, 2)}\n` };
    };
    base = repository.commit(block('1', '2', '3'));
    for (const [ours, theirs] of [
      [
        ['1', '2', '3', '5'],
        ['1', '2', '3', '6'],
      ],
      // Git merges the lines, and the file is not JSON any more.
      [['1', '2', '3', '4'], ['2']],
    ] as const) {
      const { commit, droppedEdits } = await merge(block(...ours), block(...theirs));
      const { accounts } = JSON.parse(textAt(commit, 'blocked.json'));
      const kept = [...ours, ...theirs].filter((id) => id > '3' || theirs.includes(id as never));
      deepStrictEqual(Object.keys(accounts), [...new Set(kept)].toSorted());
      deepStrictEqual(droppedEdits, []);
    }
  });

  it('removes thousands of changed files that theirs removed with two hundred thousand', async () => {
    const [before, after] = ['a', 'b'].map((digit) => ({ mode: '100644', id: digit.repeat(40) }));
    const toPath = (i: number): string => `bots/${String(i % 1000).padStart(3, '0')}/${i}.en.md`;
    const theirs = new Map(Array.from({ length: 200_000 }, (_, i) => [toPath(i), null] as const));
    const versions = { base: before ?? null, ours: after ?? null, theirs: null };
    const both = new Map([...theirs.keys()].slice(0, 4000).map((path) => [path, versions] as const));
    const sides = { base, ours: base, theirs: base };
    strictEqual((await mergeFiles(opened, both, theirs, sides)).files.size, 4000);
    const withFolder = new Map([...theirs, [`${toPath(7)}/x`, after ?? null] as const]);
    strictEqual((await mergeFiles(opened, both, withFolder, sides)).files.has(toPath(7)), false);
  });

  it('takes a folder, a link or a faulty file of theirs as it is', async () => {
    const { commit } = await merge({ [homer]: edited, [marge]: edited }, () => {
      repository.git('rm', '-q', homer);
      repository.write(`${homer}/x`, 'a folder');
      repository.write(marge, '<<<<<<< HEAD\n');
    });
    strictEqual(repository.git('show', `${commit}:${homer}/x`), 'a folder');
    strictEqual(textAt(commit, marge), '<<<<<<< HEAD');
    strictEqual(repository.git('ls-tree', '-r', '--name-only', commit).includes('~'), false);
  });

  it('takes a file of theirs as it is where ours is no text', async () => {
    const binary = (): void => repository.write(homer, Buffer.of(0xff, 0xfe));
    const { commit, droppedEdits } = await merge(binary, { [homer]: edited });
    strictEqual(`${textAt(commit, homer)}\n`, edited);
    deepStrictEqual(droppedEdits, [fileOf(homer)]);
  });

  it('takes a file of theirs that is too large to be looked into as it is @long', async () => {
    const large = `${page}${'x'.repeat(maxObjectBytes)}\n`;
    const { commit, droppedEdits } = await merge({ [homer]: edited }, { [homer]: large });
    strictEqual(Number(repository.git('cat-file', '-s', `${commit}:${homer}`)), large.length);
    deepStrictEqual(droppedEdits, [fileOf(homer)]);
  });

  for (const [title, ours, theirs, of, because] of [
    ['takes the later of two posts for a key', [2, ofService], [1, ofService], 'theirs', later],
    ['takes the later of two posts from the remote', [1, ofService], [2, ofService], 'ours', later],
    ['takes the post of the remote at the same time', [1, ofService], [1, ofService], 'ours', later],
    ['takes what people committed before a later post', [2, ofService], [1, 'Edit'], 'ours', people],
    ['takes what people here committed before it', [1, 'Edit'], [2, ofService], 'theirs', people],
    ['takes what people committed at the remote', [1, 'Edit'], [1, 'Edit'], 'ours', remote],
  ] as const)
    it(`${title}, and says what was set aside, and why`, async () => {
      const { commit, droppedEdits } = await mergeBranches(opened, {
        base,
        ours: post('https://ours.example/', ours[0], base, ours[1]),
        theirs: post('https://theirs.example/', theirs[0], base, theirs[1]),
      });
      match(textAt(commit, homer), of === 'ours' ? /theirs\.example/ : /ours\.example/);
      match(textAt(commit, homer), new RegExp(`"edited": 170000000000${Math.max(ours[0], theirs[0])}`));
      deepStrictEqual(droppedEdits, [{ path: homer, what: 'website', of, because }]);
      const heading = `Set aside${of === 'ours' ? '' : ' of the remote'}, as ${because}:`;
      const body = repository.git('log', '-1', '--format=%B', commit);
      match(body, new RegExp(`\n\n${heading}\n- "${homer}": website\n\nBot: 312$`));
    });

  it('takes the commands of the later of two posts, all of them', async () => {
    const path = commandsPath('312');
    const [earlier, later] = ['earlier', 'later'].map((name, i) => {
      const text = printCommands([{ name }, { name: 'both' }]);
      const commit = { files: { [path]: text }, message: ofService, at: 1_700_000_000 + i };
      return { text, id: repository.commitOn(base, commit) };
    });
    for (const [ours, theirs] of bothWays(later, earlier)) {
      const { commit } = await mergeBranches(opened, {
        base,
        ours: ours?.id ?? '',
        theirs: theirs?.id ?? '',
      });
      strictEqual(`${textAt(commit, path)}\n`, later?.text);
    }
  });

  it('takes the later of two posts after one of a clock that was ahead, though the other side posted more', async () => {
    const now = 1_700_000_000_000;
    base = post('https://ahead.example/', 2 * 86_400_000);
    const postAt = (time: number, website: string): string =>
      repository.commit(
        { [homer]: withValues(homer, repository.read(homer), { website }, now + time) },
        ofService,
      );
    const later = commitOf(() => postAt(9, 'https://later.example/'));
    const earlier = commitOf(() => [1, 2, 3].map((time) => postAt(time, `https://${time}.example/`)));
    for (const [ours, theirs] of bothWays(later, earlier)) {
      const { commit } = await mergeBranches(opened, { base, ours, theirs });
      match(textAt(commit, homer), /later\.example/);
      match(textAt(commit, homer), /"edited": 1700000000009/);
    }
  });

  it('takes a post that a person has amended, picked or put into a merge for what that person committed', async () => {
    const newest = post('https://later.example/', 9);
    const picked = post('https://picked.example/', 1);
    repository.git('checkout', '-q', '--detach', base);
    repository.git('-c', 'user.name=Grace', 'cherry-pick', picked);
    repository.git('-c', 'user.name=Grace', 'commit', '-q', '--amend', '--no-edit');
    const theirs = repository.git('rev-parse', 'HEAD');
    const { commit } = await mergeBranches(opened, { base, ours: newest, theirs });
    match(textAt(commit, homer), /picked\.example/);

    const side = commitOf({ [marge]: edited });
    repository.git('checkout', '-q', picked);
    repository.git('merge', '-q', '--no-commit', side);
    repository.write(homer, withWebsite('https://by-hand.example/', 1));
    const byHand = repository.commit({}, 'Merge by hand');
    const second = await mergeBranches(opened, { base, ours: newest, theirs: byHand });
    match(repository.git('show', `${second.commit}:${homer}`), /by-hand\.example/);
  });

  it('finds the post behind merges of other services and of people, and behind what a person did before it @slow', async () => {
    const person = commitOf({ [homer]: withWebsite('https://person.example/', 1) });
    const posted = post('https://theirs.example/', 3, person);
    const side = commitOf({ [marge]: edited });
    const ofOther = (await mergeBranches(opened, { base, ours: posted, theirs: side })).commit;
    repository.git('checkout', '-q', posted);
    repository.git('merge', '-q', '--no-edit', side);
    for (const theirs of [ofOther, repository.git('rev-parse', 'HEAD')])
      for (const [time, winner] of [
        [2, /theirs\.example/],
        [4, /ours\.example/],
      ] as const) {
        const ours = post('https://ours.example/', time);
        const { commit } = await mergeBranches(opened, { base, ours, theirs });
        match(textAt(commit, homer), winner);
      }
  });

  it('finds who wrote a key where one side took the page away and brought it back', async () => {
    const theirs = commitOf({ [homer]: withWebsite('https://person.example/', 1) }, 'Edit');
    const gone = commitOf({ [homer]: null }, 'Remove');
    const ours = post('https://post.example/', 2, gone);
    const { commit } = await mergeBranches(opened, { base, ours, theirs });
    match(textAt(commit, homer), /person\.example/);
  });

  it('replays ours onto a history without the base: one commit, and none where nothing is missing', async () => {
    const ours = commitOf({ [homer]: edited, notes: 'new' });
    const root = repository.git('commit-tree', `${base}^{tree}`, '-m', 'Begin again');
    const theirs = repository.commitOn(root, { files: { [marge]: page.replace('Answers', 'Asks') } });
    const { commit } = await replayOnto(opened, { base, ours, theirs });
    match(repository.git('log', '-1', '--format=%P %s', commit), new RegExp(`^${theirs} .* of the bot 312$`));
    match(textAt(commit, homer), /"music"/);
    match(textAt(commit, marge), /Asks/);
    strictEqual(textAt(commit, 'notes'), 'new');
    strictEqual((await replayOnto(opened, { base, ours: base, theirs })).commit, theirs);
    strictEqual((await replayOnto(opened, { base, ours, theirs: commit })).commit, commit);
  });

  it('replays no mode of a file that theirs has changed in the same way, and says so', async () => {
    const write = (): void => repository.write('docs/a.md', 'same');
    const ours = commitOf(() => {
      write();
      chmodSync(join(repository.folder, 'docs/a.md'), 0o755);
    });
    repository.git('checkout', '-q', '--orphan', 'same', base);
    write();
    chmodSync(join(repository.folder, 'docs/a.md'), 0o644);
    const theirs = repository.commit({});
    deepStrictEqual(await replayOnto(opened, { base, ours, theirs }), {
      commit: theirs,
      droppedEdits: [fileOf('docs/a.md')],
    });
  });

  it('replays the later of two posts for a key, and neither over what a person committed', async () => {
    const root = repository.git('commit-tree', `${base}^{tree}`, '-m', 'Begin again');
    for (const [mine, message, winner] of [
      [4, ofService, /ours\.example/],
      [2, ofService, /theirs\.example/],
      [4, 'Edit', /theirs\.example/],
    ] as const) {
      const ours = post('https://ours.example/', mine);
      const theirs = post('https://theirs.example/', 3, root, message);
      const { commit } = await replayOnto(opened, { base, ours, theirs });
      match(textAt(commit, homer), winner);
    }
  });

  it('takes no earlier value of ours for a change by people who rewrote the branch after a push without an answer', async () => {
    const pushed = post('https://first.example/', 1);
    const ours = post('https://second.example/', 2, pushed);
    const root = repository.git('commit-tree', `${base}^{tree}`, '-m', 'Begin again');
    for (const [website, merge, winner] of [
      ['https://first.example/', replayOnto, /second\.example/],
      ['https://first.example/', mergeBranches, /second\.example/],
      ['https://person.example/', replayOnto, /person\.example/],
    ] as const) {
      const theirs = post(website, 1, merge === replayOnto ? root : base, 'Squash');
      const { commit } = await merge(opened, { base, ours, theirs });
      match(textAt(commit, homer), winner);
    }
  });

  it('replays ours not over an older value that people have brought back', async () => {
    const old = post('https://old.example/', 1);
    const pushed = post('https://new.example/', 2, old);
    const ours = post('https://latest.example/', 3, pushed);
    const theirs = post('https://old.example/', 1, base, 'Squash');
    const { commit } = await replayOnto(opened, { base: pushed, ours, theirs });
    match(textAt(commit, homer), /old\.example/);
  });

  function textAt(commit: string, path: string): string {
    return repository.git('show', `${commit}:${path}`);
  }

  function fileOf(path: string): DroppedEdit {
    return { path, what: 'file', of: 'ours', because: remote };
  }

  async function merge(mine: Work, others: Work): Promise<BranchMerge> {
    return await mergeBranches(opened, { base, ours: commitOf(mine), theirs: commitOf(others) });
  }

  function commitOf(work: Work, message?: string): string {
    if (typeof work !== 'function') return repository.commitOn(base, { files: work, message });
    repository.git('checkout', '-q', '--detach', base);
    work();
    return repository.commit({}, message);
  }

  /** A commit of a person who moves the page to another language, and translates all of it. */
  function move(values: Readonly<Record<string, unknown>>): string {
    return commitOf({ [homer]: null, [german]: germanPage(values) });
  }

  function germanPage(values: Readonly<Record<string, unknown>>): string {
    const own = { description: 'Antwortet auf Fragen.', website: null, edited: 1_700_000_000_000 };
    return mainPage({ ...own, ...values }, 'Antwortet auf Fragen.\n\nUnd mehr.\n');
  }

  /** A commit as a service makes it of a post at that time. */
  function post(website: string, time: number, on = base, message = ofService): string {
    return repository.commitOn(on, { files: { [homer]: withWebsite(website, time) }, message });
  }

  function withWebsite(website: string, time: number): string {
    return mainPage({ website, edited: 1_700_000_000_000 + time });
  }

  function treeAt(commit: string): string {
    return repository.git('rev-parse', `${commit}^{tree}`);
  }
});
