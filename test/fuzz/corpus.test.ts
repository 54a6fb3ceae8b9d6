import { fuzzBriefly } from './fuzzer.ts';
import { targets } from './targets.ts';

describe('the corpus of inputs that strangers may send', () => {
  for (const [name, [open]] of Object.entries(targets))
    it(`does no harm to ${name}`, async () => {
      await fuzzBriefly(name, await open(), 0);
    });
});
