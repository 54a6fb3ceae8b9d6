import { match, strictEqual } from 'node:assert/strict';
import { eventually } from '../support/eventually.ts';
import { repositoryIn } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { startTestService } from '../support/service.ts';

describe('/readyz', () => {
  it('names another branch that is checked out, and a page whose "edited" is ahead of the clock', async () => {
    const ahead = Date.now() + 86_400_000;
    const service = await startTestService({ [pagePath('7')]: mainPage({ edited: ahead }) });
    const faults = async (part: string): Promise<string> =>
      String((await service.request('/readyz')).json.parts[part].faults);
    const isNamed = /"edited" of the bot 7 is .*: run "timedatectl set-ntp true"/;
    await eventually(async () => match(await faults('catalogue'), isNamed));
    repositoryIn(service.root).write(pagePath('7'), mainPage());
    await eventually(async () => strictEqual(await faults('catalogue'), ''));

    service.expectLog(/the clone is on the branch trial/);
    const { git } = repositoryIn(service.root);
    strictEqual(await faults('repository'), '');
    git('switch', '-q', '-c', 'trial');
    match(await faults('repository'), /^the clone is on the branch trial, and the service began on main: /);
    await eventually(() => match(service.log(), /the clone is on the branch trial/));
    git('switch', '-q', 'main');
    strictEqual(await faults('repository'), '');
  });
});
