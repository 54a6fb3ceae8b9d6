import { readCases } from './fixture-lines.ts';

/** The known ways past sanitisers, by name: HTML that would run a script, load something or leave its place. */
export const hostileHtml: Readonly<Record<string, string>> = Object.fromEntries(
  readCases('hostile-html').map(({ input, expected }) => [input, JSON.parse(expected[0] ?? '') as string]),
);
