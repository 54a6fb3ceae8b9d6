import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict';
import { chmodSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Drafts } from '../../src/proposals/dated-files.ts';
import { atTime } from '../support/at-time.ts';
import { tempFolder } from '../support/temp-folder.ts';

const hour = 3_600_000;

/** Returns the time of a clock that agrees with the newest commit. */
const clock = async (): Promise<number> => await Promise.resolve(Date.now());

describe('drafts', () => {
  let folder: string;
  let drafts: Drafts;
  beforeEach(async () => {
    folder = join(tempFolder(), 'drafts');
    drafts = await Drafts.open(folder, clock);
  });

  const listRead = async (ids: readonly string[], from = drafts): Promise<boolean[]> =>
    await Promise.all(ids.map(async (id) => (await from.read(id)) !== undefined));

  it('are found by an id that cannot be guessed, which nothing else than a draft has', async () => {
    const id = await drafts.save('name=Ünï', '10.0.0.1');
    match(id, /^\d{13}-[0-9a-f]{32}$/);
    strictEqual(await drafts.read(id), 'name=Ünï');
    for (const other of ['', '../drafts', id.slice(1), `${id}/`])
      strictEqual(await drafts.read(other), undefined);
    strictEqual(statSync(join(folder, id)).mode & 0o777, 0o600);
  });

  it('are there after a restart, which removes what a crash left', async () => {
    const id = await drafts.save('a=1', '10.0.0.1');
    writeFileSync(join(folder, `.${id}.1.1.tmp`), 'a');
    writeFileSync(join(folder, 'README'), 'Not a draft.');
    const again = await Drafts.open(folder, clock);
    strictEqual(await again.read(id), 'a=1');
    strictEqual(await again.read('README'), undefined);
    deepStrictEqual(readdirSync(folder).toSorted(), [id, 'README'].toSorted());
  });

  it('end after an hour', async () => {
    const old = await atTime(Date.now() - hour, async () => await drafts.save('c=3', '10.0.0.1'));
    strictEqual(await drafts.read(old), undefined);
    strictEqual(await (await Drafts.open(folder, clock)).read(old), undefined);
    ok(!readdirSync(folder).includes(old));
  });

  it('of one address are 20 at most, the oldest are deleted first', async () => {
    const ids: string[] = [];
    const save = async (many: number): Promise<void> => {
      for (let i = 0; i < many; i++) ids.push(await drafts.save(String(i), '10.0.0.1'));
    };
    await save(10);
    const other = await drafts.save('other', '10.0.0.2');
    await save(12);
    deepStrictEqual(
      await listRead(ids),
      ids.map((_, i) => i >= 2),
    );
    strictEqual(await drafts.read(other), 'other');
  });

  it('are 500 at most, also where many are saved at once', async () => {
    const first = await drafts.save('x', '10.1.0.1');
    await Promise.all(
      Array.from({ length: 501 }, async (_, i) => await drafts.save('x', `10.0.${i >> 8}.${i & 255}`)),
    );
    const last = await drafts.save('x', '10.1.0.2');
    deepStrictEqual(await listRead([first, last]), [false, true]);
    strictEqual(readdirSync(folder).length, 500);
    const again = await Drafts.open(folder, clock);
    strictEqual((await listRead(readdirSync(folder), again)).includes(false), false);
    await again.save('x', '10.1.0.3');
    strictEqual(readdirSync(folder).length, 500);
  });

  it('of one network do not push out those of others, though each address has a few', async () => {
    const first = await drafts.save('first', '2001:db8:1::1');
    const hex = (i: number): string => i.toString(16);
    for (let i = 0; i < 510; i++) await drafts.save('x', `2001:db8:2:${hex(i % 30)}::1`);
    const last = await drafts.save('last', '2001:db8:3::1');
    await drafts.save('x', '2001:db8:2:ffff::1');
    deepStrictEqual(await listRead([first, last]), [true, true]);
    strictEqual(readdirSync(folder).length, 500);
  });

  it('that cannot be saved are refused, with what the operator can do', async function () {
    if (process.getuid?.() === 0) rmSync(folder, { recursive: true });
    else chmodSync(folder, 0o500);
    if (process.getuid?.() === 0) writeFileSync(folder, '');
    await rejects(drafts.save('a=1', '10.0.0.1'), /drafts/);
    if (process.getuid?.() !== 0) chmodSync(folder, 0o700);
  });
});
