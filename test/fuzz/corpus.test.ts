import { type Target, replayCorpus } from './fuzzer.ts';
import { targets } from './targets.ts';

/** Targets that start git or ask a service for each input: their whole corpora are for test/verify/fuzz.test.ts. */
const slow = ['attributes', 'form', 'headers', 'query', 'revision'];

describe('the corpus of inputs that strangers may send', () => {
  const opened = new Map<string, Target>();

  // In a hook, or the folders of the service would go with the first of the tests that share it.
  before(async () => {
    for (const [name, [open]] of Object.entries(targets)) opened.set(name, await open());
  });

  for (const name of Object.keys(targets))
    it(`does no harm to ${name}`, async () => {
      await replayCorpus(name, opened.get(name) as Target, slow.includes(name) ? 'explained' : 'all');
    });
});
