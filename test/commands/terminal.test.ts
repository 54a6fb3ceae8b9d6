import { doesNotMatch, match, ok } from 'node:assert/strict';
import { readCases } from '../support/fixture-lines.ts';
import { botshelf } from '../support/command-line.ts';
import { testRepository } from '../support/repository.ts';
import { homerKeys, mainPage, pagePath } from '../support/sample.ts';
import { tempFolder, writeFiles } from '../support/temp-folder.ts';

/** Clears the screen in two ways, begins a line in three, and reverses the direction of the text after it. */
const commands = '\u001b[2J\u009b2J\rmine\nmine\u0085mine\u007f\u202e';
/** The characters of it that an address may have. */
const inAddress = '\u001b[2J\u009b2J\u202e';

// oxlint-disable-next-line no-control-regex -- that is what must not be there
const effective = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u202e]|^mine/m;

describe('what strangers wrote commands nothing in the terminal', () => {
  const address = `https://127.0.0.1/${inAddress}`;
  const { folder } = testRepository({
    [pagePath('7')]: mainPage({ name: 'Seven', website: address, images: { avatar: `${address}.png` } }),
    [pagePath('8')]: mainPage({ name: `Eight: ${commands}`, website: `https://a.example/: ${commands}` }),
    [pagePath('9')]: mainPage({ name: 'Nine', [commands]: 1 }),
  });
  const list = tempFolder();
  const record = { ...homerKeys, id: `x${commands}`, category: commands };
  writeFiles(list, {
    'bots.ndjson': `${JSON.stringify(record)}\n`,
    'map.json': JSON.stringify({ id: 'id', name: 'name' }),
  });

  before('have the picture fail', async () => void (await botshelf(folder, ['images'])));

  for (const { input, expected } of readCases('hostile-outputs'))
    it(`that botshelf ${input} prints it in`, async () => {
      const { stdout, stderr } = await botshelf(folder, input.split(' '), { cwd: list });
      ok(stdout.includes(expected[0] ?? ''), stdout);
      doesNotMatch(stdout + stderr, effective);
    });

  it('that an error quotes, such as one of a Git server', async () => {
    const { stderr } = await botshelf(folder, ['mirror', `https://127.0.0.1:1/\u009b2J\u202e`]);
    match(stderr, /cannot be cloned|is not the address/);
    doesNotMatch(stderr, effective);
  });
});
