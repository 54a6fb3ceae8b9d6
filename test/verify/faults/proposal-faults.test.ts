import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { eventually } from '../../support/eventually.ts';
import { testRepository } from '../../support/repository.ts';
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.ts';
import { needs } from '../../support/tools.ts';
import {
  type AnsweredSteps,
  checkProposals,
  stepsAfterSent,
  stepsChild,
  stepsFiles,
} from '../proposal-aftermath.ts';
import { faultInjector, forEachFault, isWhole } from './fault-injector.ts';

needs('gcc', describe)('a system call that fails once while a proposal', function () {
  this.timeout(isWhole ? 0 : 120_000);

  const steps = [
    ['is accepted', 0],
    ['is sent', 2],
    ['is declined', 1],
    ['is withdrawn', 3],
    ['is taken back', 2],
  ] as const;
  for (const [name, offset] of isWhole ? steps : steps.slice(0, 2)) {
    it(`${name} loses no step, and the step can be taken again without an operator`, async () => {
      const repository = testRepository(stepsFiles);
      const injector = faultInjector(repository.folder);
      const start = async (): Promise<ServiceProcess> =>
        await startServiceProcess(repository.folder, injector.env, [
          process.execPath,
          stepsChild,
          repository.folder,
        ]);
      let service = await start();
      const answered: AnsweredSteps = new Map();
      let number = offset + 4;
      await forEachFault(injector, async (inject, restart) => {
        number += 4;
        const before = name === 'is sent' ? [] : ['sent', ...stepsAfterSent(number)];
        const last = before.pop() ?? 'sent';
        const take = async (what: string): Promise<string> => {
          const response = await fetch(`${service.address}/${what}/${number}`, { method: 'POST' });
          const text = await response.text();
          ok(response.status === 200 || response.status === 409, text);
          return response.status === 200 ? '' : text;
        };
        for (const step of before) strictEqual(await take(step), '');
        const { result, failed } = await inject(async () => await take(last));
        const state = last === 'sent' || last === 'taken-back' ? 'waiting' : last;
        const states = async (): Promise<string[]> => {
          const response = await fetch(`${service.address}/${number}`);
          return ((await response.json()) as { states: string[] }).states;
        };
        if (result === '') deepStrictEqual(await states(), [state], failed);
        await eventually(async () => {
          if ((await states()).join() !== state) await take(last);
          deepStrictEqual(await states(), [state], `${failed}: ${result}`);
        });
        answered.set(String(number), last);
        await eventually(() => strictEqual(repository.status(), '', failed));
        if (!restart) return;
        await service.end('SIGKILL');
        await checkProposals(repository, answered);
        service = await start();
        deepStrictEqual(await states(), [state], `${failed}, and a restart`);
      });
      await service.end('SIGKILL');
      await checkProposals(repository, answered);
    });
  }
});
