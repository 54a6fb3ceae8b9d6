import { strictEqual } from 'node:assert/strict';
import { watchSettings } from '../../../src/catalogue/settings/watched-settings.ts';
import { recordedLog } from '../../support/recorded-log.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { writeFiles } from '../../support/sample.ts';

describe('the watched settings', () => {
  it('are a change when their file is changed, and none when it is read for the first time', async () => {
    const root = tempFolder();
    let changes = 0;
    const settings = watchSettings(root, {
      copy: null,
      log: recordedLog(),
      onFaults: () => undefined,
      onChange: () => void changes++,
    });
    writeFiles(root, { 'botshelf.json': '{ "name": "Robotek" }\n' });
    await settings.load();
    strictEqual(settings.current.name, 'Robotek');
    strictEqual(changes, 0);
    writeFiles(root, { 'botshelf.json': '{ "name": "Robot library" }\n' });
    await settings.read();
    await settings.close();
    strictEqual(settings.current.name, 'Robot library');
    strictEqual(changes, 1);
  });
});
