/* The plan of a simulation: every action, with its actor, machine and time, and every fault. A seed determines it. */

import { randomFrom } from '../../support/random.ts';

/** For each machine, a bot that is only posted to there: what was answered last is what it has from then on. */
export const ownBots = ['8', '9', '10'] as const;
export const machineCount = ownBots.length;
/** The bots that stay, of which people only propose changes of 6 and 7, and those that are removed and added again. */
export const stayingBots = ['1', '2', '3', '6', '7', ...ownBots];
export const comingBots = ['4', '5'];
export const allBots = [...stayingBots, ...comingBots];

/** Numbers of the plan are values: no two writes of a key have the same. */
export const addressOf = (number: number): string => `https://example.org/${number}`;

/** A key of a page whose values are addresses. */
export type AddressKey = 'website' | 'support';

interface AtMachine {
  readonly machine: number;
}

interface OfBot {
  readonly bot: string;
}

interface OfKey {
  readonly key: AddressKey;
}

/** A value, an error, or which of several is meant. */
interface Numbered {
  readonly number: number;
}

interface Lasting {
  readonly ms: number;
}

interface Post extends AtMachine, OfBot, Numbered {
  readonly keys: readonly (AddressKey | 'count')[];
  /** How many tokens were issued after the one that is sent: 0 for the last, all others have ended. */
  readonly age: number;
  /** The count, which is short, so that a badge shows all of it. */
  readonly count: number;
}

/** The troubles of the line of a machine to the remote, and of that of its clients. */
const troublesOfLines = [
  ...(['remote-cut', 'remote-slow', 'remote-half', 'remote-refuses', 'remote-hangs'] as const),
  ...(['clients-cut', 'clients-slow', 'clients-half'] as const),
] as const;

export type Deed =
  | (Post & { readonly do: 'post' })
  /** A post after whose answer the service is killed. */
  | (Post & { readonly do: 'kill-answered' })
  | (AtMachine & OfBot & { readonly do: 'read' | 'read-count' })
  | (AtMachine & OfBot & { readonly do: 'issue' | 'revoke' })
  | (AtMachine & OfBot & Numbered & { readonly do: 'send'; readonly account: string })
  /** Of the proposals that are there. */
  | (AtMachine & Numbered & { readonly do: 'withdraw' | 'accepted' | 'declined' | 'changes-asked' })
  | (OfBot & OfKey & Numbered & { readonly do: 'pull'; readonly merge: boolean })
  | (OfBot & Numbered & { readonly do: 'add-or-remove' })
  | { readonly do: 'rewrite'; readonly how: 'drop' | 'squash'; readonly commits: number }
  /** The Git host comes back from a backup that is this old. */
  | (Lasting & { readonly do: 'host-back' })
  | (AtMachine &
      OfBot &
      OfKey &
      Lasting &
      Numbered & { readonly do: 'edit-clone'; readonly end: 'commit' | 'discard' })
  /** A maintainer's command on the machine of a service. */
  | (AtMachine & OfBot & OfKey & Numbered & { readonly do: 'command' })
  /** A machine is added, whose service starts some time after its clone was made. */
  | (Lasting & { readonly do: 'new-machine' })
  /** The number says which of the calls fail, with which error, or how many days the clock is wrong. */
  | (AtMachine &
      Lasting &
      Numbered & { readonly do: 'kill' | 'stop' | 'freeze' | 'disk-full' | 'calls-fail' | 'clock' })
  | (AtMachine & Lasting & Numbered & { readonly do: (typeof troublesOfLines)[number] });

/** A deed and its time, in milliseconds after the start; later if the actor is still busy. */
export type Step = Deed & { readonly at: number; readonly actor: string };

export interface Plan {
  readonly seed: number;
  readonly milliseconds: number;
  /** Whether clocks are wrong at times: which of two counts is the later one, nobody can tell then. */
  readonly hasWrongClocks: boolean;
  readonly steps: readonly Step[];
}

/** @param canFail whether calls on files can be made to fail, and clocks be wrong */
export function makePlan(seed: number, minutes: number, canFail: boolean): Plan {
  const random = randomFrom(seed);
  const below = (n: number): number => Math.floor(random() * n);
  const pick = <T>(from: readonly [T, ...T[]]): T => from[below(from.length)] as T;
  const milliseconds = minutes * 60_000;
  const hasWrongClocks = canFail && random() < 0.5;
  const steps: Step[] = [];
  let number = 100;
  const counts = new Map(allBots.map((bot) => [bot, 0]));
  const countOf = (bot: string): number => {
    // A badge shortens thousands.
    const count = ((counts.get(bot) ?? 0) % 999) + 1;
    counts.set(bot, count);
    return count;
  };
  /** One actor's deeds, with pauses of `pause` milliseconds on average, from `start` to `end`, shares of the time. */
  const act = (actor: string, pause: number, next: () => Deed, start = 0, end = 1): void => {
    let at = start * milliseconds;
    while ((at += pause * (0.2 + 1.6 * random())) < end * milliseconds)
      steps.push({ ...next(), at: Math.round(at), actor });
  };
  const machine = (): number => below(machineCount);
  const post = (
    at: number,
    of: string,
    keys: readonly (AddressKey | 'count')[],
    age = 0,
  ): Post & { do: 'post' } => ({
    do: 'post',
    machine: at,
    bot: of,
    keys,
    age,
    count: countOf(of),
    number: ++number,
  });
  const bot = (): string => pick(['1', '1', '1', '2', '2', '3', '4', '5']);
  const key = (): AddressKey => pick(['website', 'support']);
  for (const [m, own] of ownBots.entries()) {
    act(`owner at ${m}`, 700, () =>
      post(
        m,
        random() < 0.2 ? own : bot(),
        pick([['count'], ['count'], ['website'], ['support'], ['website', 'support'], ['website', 'count']]),
      ),
    );
    act(`holder of ended tokens at ${m}`, 500, () => post(m, bot(), ['count'], 1 + below(3)));
    act(`reader at ${m}`, 250, () => ({
      do: pick(['read', 'read', 'read-count']),
      machine: m,
      bot: random() < 0.6 ? bot() : pick(['6', '7', own, own]),
    }));
    // One machine is neither killed nor stopped in the last half, so that what it holds on to shows.
    const rests = m === seed % machineCount;
    const process = ['kill', 'stop', 'freeze'] as const;
    const kills = Array.from({ length: 4 }, () => 'kill-answered' as const);
    const calls = [
      ...kills,
      'disk-full',
      'calls-fail',
      ...(hasWrongClocks ? (['clock'] as const) : []),
    ] as const;
    act(
      `trouble at ${m}`,
      8000,
      () => {
        const what = pick(canFail ? [...process, ...calls] : process);
        if (what === 'kill-answered')
          return {
            ...post(m, own, pick([['count'], ['count'], ['website'], ['website', 'count']])),
            do: what,
          };
        return { do: what, machine: m, ms: 300 + below(2500), number: below(200) };
      },
      0,
      rests ? 0.5 : 1,
    );
    act(`line of ${m}`, 5000, () => ({
      do: pick(['remote-cut', ...troublesOfLines]),
      machine: m,
      ms: 500 + below(5000),
      number: below(5000),
    }));
  }
  // The author uses a token, ends it, and sends it once more, at the same machine or at another one.
  let author: Deed[] = [];
  act('author', 800, () => {
    const [m, of] = [machine(), bot()];
    const ends = pick(['issue', 'issue', 'revoke'] as const);
    if (author.length === 0)
      author = [
        post(m, of, ['count']),
        { do: ends, machine: m, bot: of },
        post(random() < 0.5 ? m : machine(), of, ['count'], ends === 'issue' ? 1 : 0),
      ];
    return author.shift() as Deed;
  });
  let sent = 0;
  for (const who of ['proposer', 'another proposer'])
    act(who, 1500, () => {
      if (random() < 0.2) return { do: 'withdraw', machine: machine(), number: below(1000) };
      // Nobody may send more than twenty in a day.
      const account = String(1001 + Math.floor(sent++ / 30) * 3 + below(3));
      return {
        do: 'send',
        machine: machine(),
        bot: pick(['1', '4', '6', '6', '7', '7']),
        account,
        number: ++number,
      };
    });
  for (const who of ['maintainer', 'colleague'])
    act(who, 1500, () => ({
      do: pick(['accepted', 'accepted', 'declined', 'changes-asked']),
      machine: machine(),
      number: below(1000),
    }));
  act('committer', 2500, () => {
    const chance = random();
    if (chance < 0.15) return { do: 'rewrite', how: pick(['drop', 'squash']), commits: 1 + below(3) };
    if (chance < 0.35) return { do: 'add-or-remove', bot: pick(['4', '5']), number: ++number };
    return { do: 'pull', bot: bot(), key: key(), merge: random() < 0.5, number: ++number };
  });
  act('person in the clone', 4000, () => ({
    do: 'edit-clone',
    machine: machine(),
    bot: pick(['1', '2', '3']),
    key: key(),
    end: pick(['commit', 'commit', 'discard']),
    ms: below(1500),
    number: ++number,
  }));
  act('Git host', 15_000, () => ({ do: 'host-back', ms: 1000 + below(5000) }));
  act('operator', 5000, () => ({
    do: 'command',
    machine: machine(),
    bot: pick(['1', '2', '3']),
    key: key(),
    number: ++number,
  }));
  const at = Math.round(milliseconds * (0.2 + 0.4 * random()));
  steps.push({ do: 'new-machine', ms: 2000 + below(8000), at, actor: 'newcomer' });
  return { seed, milliseconds, hasWrongClocks, steps };
}
