import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { botshelf, mainFile } from '../../support/command-line.ts';
import { eventually } from '../../support/eventually.ts';
import { testRepository } from '../../support/repository.ts';
import { writeFiles } from '../../support/sample.ts';
import { startTestService } from '../../support/service.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/** More than one commit has. IMPORT_BOTS=5000 imports as many as a list of middle size has. */
const count = Number(process.env['IMPORT_BOTS'] ?? 1050);

const map = {
  id: 'Bot ID',
  name: 'Title of the bot',
  description: 'Short',
  authors: { from: 'Owner(s)', split: '|' },
  category: { from: 'Tag', values: { mod: 'moderation', tunes: 'music' }, else: 'other' },
  created: 'Added',
  page: 'Long.text',
  invite: { template: 'https://discord.com/oauth2/authorize?client_id={id}&scope=bot' },
};

/** A table; every fiftieth bot has no author. */
function table(): string {
  const rows = Array.from({ length: count }, (_, i) => {
    const owners = i % 50 === 49 ? '' : `${234_567_890 + i}|7`;
    const page = `"# Bot ${i}\n\nIt says ""${'hello; '.repeat(i % 40)}"".\n"`;
    const tag = ['mod', 'tunes', 'cats'][i % 3];
    return `${1_903_051_999 * 1_000_000 + i};Bot ${i};Does ${i} things, “well”.;${owners};${tag};2023-04-05 06:07;${page}\r\n`;
  });
  return `\uFEFF${[map.id, map.name, map.description].join(';')};Owner(s);Tag;Added; Long.text \r\n${rows.join('')}`;
}

describe('a list that is imported', () => {
  it('is whole after Ctrl-C and a second run beside a service, and comes back from its export byte for byte @long', async function () {
    this.timeout(60_000 + count * 100);
    const source = tempFolder();
    writeFiles(source, { 'list.csv': table(), 'map.json': JSON.stringify(map) });
    const args = ['import', join(source, 'list.csv'), '--map', join(source, 'map.json')];
    const { folder: root, ...repository } = testRepository({ 'bots/.gitkeep': '' });
    const { address } = await startTestService({}, { root });
    const listed = async (): Promise<string> => await (await fetch(`${address}/api/v2/export.ndjson`)).text();

    const killed = spawn(process.execPath, [mainFile, ...args], {
      env: { ...process.env, BOTSHELF_CATALOGUE: root },
      stdio: 'ignore',
      detached: true,
    });
    await eventually(() => ok(Number(repository.git('rev-list', '--count', 'HEAD')) > 1), 60);
    // As Ctrl-C does, which reaches what the command has started, too.
    process.kill(-Number(killed.pid), 'SIGINT');
    await once(killed, 'exit');
    const { code, stdout } = await botshelf(root, args);
    strictEqual(code, 1);
    const bad = Math.floor(count / 50);
    const good = count - bad;
    const [, added, there] =
      /^\d+ records: (\d+) added, 0 replaced, (\d+) there already, \d+ did not fit$/m.exec(stdout) ?? [];
    strictEqual(Number(added) + Number(there), good);
    ok(Number(there) >= 1000, stdout);
    match(stdout, new RegExp(`^ +${bad} required authors$`, 'm'));
    strictEqual(repository.status(), '');
    await eventually(async () => strictEqual((await listed()).split('\n').length - 1, good), 60);

    writeFiles(source, { 'export.ndjson': await listed() });
    const copy = testRepository({ 'bots/.gitkeep': '' });
    const { stdout: report } = await botshelf(copy.folder, ['import', join(source, 'export.ndjson')]);
    strictEqual(report, `${good} records: ${good} added, 0 replaced, 0 there already, 0 did not fit\n`);
    strictEqual(copy.git('rev-parse', 'HEAD:bots'), repository.git('rev-parse', 'HEAD:bots'));
    deepStrictEqual([copy.status(), (await botshelf(copy.folder, ['check'])).code], ['', 0]);
  });
});
