import { strictEqual } from 'node:assert/strict';
import { mainPage, pagePath } from '../../support/sample.ts';
import { updateRequest } from '../../support/token.ts';

/** The posts of owners. */
export type Kind = 'count' | 'website';

/** The bots whose owners post; the last digit of each number says for which. */
export const ids = ['1', '2', '3', '4', '5'];

/** The pages of the bots, and one of a bot that nothing is posted to. */
export const files = Object.fromEntries(
  [...ids, '9'].map((id) => [pagePath(id), mainPage({ website: null })]),
);

/** The greatest answered number, by kind and bot. */
export type Answers = Map<string, number>;

/** What was answered, and the greatest number that was sent, by kind and bot. */
export interface Posted {
  readonly answers: Answers;
  readonly sent: Answers;
}

const categories = ['fun', 'games', 'music', 'news', 'other', 'utility'];

/** The category that a bot has with the website of that number. */
export function categoryOf(number: number): string {
  return categories[number % categories.length] ?? 'fun';
}

/** Adds what a response to an update says that is saved. */
export function addAnswer(answers: Answers, body: string): void {
  const { bot } = JSON.parse(body) as { bot?: { count?: number; website?: string } };
  for (const kind of ['count', 'website'] as const) {
    const number = Number(
      String(bot?.[kind] ?? 0)
        .split('/')
        .at(-1),
    );
    const key = `${kind} ${number % 10}`;
    if (number > 0) answers.set(key, Math.max(number, answers.get(key) ?? 0));
  }
}

/**
 * Has every owner post ever greater numbers, one after the other, until that is ended or the service is gone.
 * @param from where the numbers begin; they have to be greater than those of an earlier run
 */
export function startPosting(
  address: string,
  tokens: ReadonlyMap<string, string>,
  kinds: readonly Kind[],
  { answers, sent }: Posted = { answers: new Map(), sent: new Map() },
  from = 0,
): { readonly answers: Answers; readonly end: () => Promise<void> } {
  const ended = new AbortController();
  const posting = kinds.flatMap((kind) =>
    [...tokens].map(async ([id, token]) => {
      for (let number = from + 10 + Number(id); !ended.signal.aborted; number += 10) {
        sent.set(`${kind} ${id}`, number);
        // Where the service is gone, nothing is answered.
        const body = await post(address, id, token, kind, number).catch((error: unknown) => {
          if (!(error instanceof TypeError)) throw error;
        });
        if (body === undefined) return;
        addAnswer(answers, body);
      }
    }),
  );
  const end = async (): Promise<void> => {
    ended.abort();
    await Promise.all(posting);
  };
  return { answers, end };
}

/** Posts a number, which must be saved, and returns the body of the response. */
export async function post(
  address: string,
  id: string,
  token: string,
  kind: Kind,
  number: number,
): Promise<string> {
  const content = { website: `https://example.org/${number}`, category: categoryOf(number) };
  const bot = kind === 'count' ? { count: number } : content;
  const response = await fetch(`${address}/api/v2/bots/${id}`, updateRequest(token, bot));
  const body = await response.text();
  strictEqual(response.status, 200, `a post of ${kind} ${number} was answered ${response.status} ${body}`);
  return body;
}
