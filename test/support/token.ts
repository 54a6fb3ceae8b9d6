import { RepositoryDoor } from '../../src/git/repository.ts';
import { createStateRef } from '../../src/git/state-ref.ts';
import { silentLog } from '../../src/log.ts';
import { CommittedState } from '../../src/state/committed-state.ts';
import { State } from '../../src/state/state.ts';
import { issueToken } from '../../src/state/tokens.ts';
import { botId } from './sample.ts';

/** Gives a bot a new token in the state ref of `folder`, as `botshelf token` does beside a running service. */
export async function issueTestToken(folder: string, id: string): Promise<string> {
  const door = new RepositoryDoor(folder);
  try {
    return await issueToken(
      new CommittedState(createStateRef(door, silentLog), new State(), silentLog),
      botId(id),
    );
  } finally {
    door.close();
  }
}
