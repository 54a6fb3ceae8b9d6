import '../fuzz/coverage.ts';
import { fuzzBriefly, fuzzLong, type Target } from '../fuzz/fuzzer.ts';
import { targets } from '../fuzz/targets.ts';

/** `npm run fuzz` sets how long; the short form tests the corpus and the same mutations each time. */
const minutes = Number(process.env['FUZZ_MINUTES'] ?? 0);

describe('nothing that strangers send does harm', function () {
  this.timeout(minutes > 0 ? 0 : 180_000);
  for (const [name, [open, times]] of Object.entries(targets))
    describe(`to ${name}:`, () => {
      let target: Target;

      // In a hook, or the folders of the service would go with the first of the tests that share it.
      before(async () => {
        target = await open();
      });

      it('the corpus, and mutations of it', async () => {
        if (minutes === 0) return await fuzzBriefly(name, target, times);
        console.log(await fuzzLong(name, target, minutes, process.env['FUZZ_SAVE'] === 'yes'));
      });
    });
});
