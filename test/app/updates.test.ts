import { match, rejects, strictEqual } from 'node:assert/strict';
import { Updates, withValues } from '../../src/app/updates.ts';
import type { StateStore } from '../../src/counts/state-store.ts';
import { committerOn } from '../support/committing.ts';
import { openCatalogue } from '../support/live-catalogue.ts';
import { crashed, newPlace, open, type Place } from '../support/place.ts';
import { testRepository, type TestRepository } from '../support/repository.ts';
import { botId, mainPage, pagePath } from '../support/sample.ts';

const path = pagePath('7');

describe('an update of a page', () => {
  it('changes nothing where an object or a list is as it was, in whatever order its keys are', () => {
    const text = mainPage({ codehost: { owner: 'o', repo: 'r' }, authors: ['1', '2'] });
    const values = { codehost: { repo: 'r', owner: 'o' }, authors: ['1', '2'] };
    strictEqual(withValues(path, text, values, 1_800_000_000_000), text);
  });

  it('changes nothing where a value is the default of a key that is left out', () => {
    const text = mainPage();
    const values = { support: null, nsfw: false, codehost: { owner: null, repo: null } };
    strictEqual(withValues(path, text, values, 1_800_000_000_000), text);
  });

  it('sets what differs, and the time', () => {
    const text = mainPage({ codehost: { owner: 'o', repo: 'r' } });
    const changed = withValues(path, text, { codehost: { owner: 'o', repo: 'other' } }, 1_800_000_000_000);
    match(changed, /"other"/);
    match(changed, /"edited": 1800000000000/);
  });

  it('is later than the one before, though the clock stepped back, and never before the bot was created', () => {
    const text = mainPage({ created: 1_600_000_000_000, edited: 1_700_000_000_000 });
    for (const clock of [1_700_000_000_000, 1_650_000_000_000, 1_500_000_000_000])
      match(withValues(path, text, { nsfw: true }, clock), /"edited": 1700000000001,/);
    const unedited = mainPage({ created: 1_600_000_000_000 });
    match(withValues(path, unedited, { nsfw: true }, 1_500_000_000_000), /"edited": 1600000000001\n/);
  });
});

describe('an update', () => {
  const id = botId('7');
  let repository: TestRepository;
  let place: Place;
  let counts: StateStore;
  let updates: Updates;
  beforeEach(async () => {
    repository = testRepository({ [path]: mainPage() });
    const { catalogue } = await openCatalogue({}, { root: repository.folder });
    place = newPlace();
    counts = await open(place);
    updates = new Updates(catalogue.store.bots, committerOn(repository.folder), counts);
  });

  it('of content and a count is in the branch and in the counts once it has resolved', async () => {
    const commit = await updates.apply(id, { category: 'music', count: 9 });
    strictEqual(commit, repository.git('rev-parse', 'HEAD'));
    match(repository.git('show', `HEAD:${path}`), /"category": "music"/);
    strictEqual(counts.count(id), 9);
    strictEqual((await open(crashed(place))).count(id), 9);
  });

  it('of a count alone, or of content that is as it was, commits nothing and saves the count', async () => {
    const head = repository.git('rev-parse', 'HEAD');
    strictEqual(await updates.apply(id, { count: 5 }), null);
    strictEqual(counts.count(id), 5);
    strictEqual(await updates.apply(id, { nsfw: false, count: 6 }), null);
    strictEqual(counts.count(id), 6);
    strictEqual(repository.git('rev-parse', 'HEAD'), head);
  });

  it('fails where its count cannot be saved, with content or without', async () => {
    await counts.close();
    for (const values of [{ count: 9 }, { category: 'music', count: 9 }])
      await rejects(updates.apply(id, values), { name: 'WritesUnavailableError' });
  });

  it('changes nothing of a bot that is not the expected one, or that there is not', async () => {
    const head = repository.git('rev-parse', 'HEAD');
    for (const values of [{ count: 9 }, { category: 'music', count: 9 }]) {
      await rejects(
        updates.apply(id, values, () => false),
        { name: 'PreconditionFailedError' },
      );
      await rejects(updates.apply(botId('8'), values), { name: 'UnknownBotError' });
    }
    strictEqual(counts.count(id), undefined);
    strictEqual(repository.git('rev-parse', 'HEAD'), head);
  });
});
