declare const brand: unique symbol;

/** A bot's id: 1–20 decimal digits, kept as text because a number would lose digits. */
export type BotId = string & { readonly [brand]: 'BotId' };

/** Returns `text` as a bot id; undefined when it is not one. The only way to get a BotId. */
export function parseBotId(text: string): BotId | undefined {
  return /^[0-9]{1,20}$/.test(text) ? (text as BotId) : undefined;
}

/** Orders ids by their numeric value; ids of one value, such as 7 and 07, by length. */
export function compareBotIds(a: string, b: string): number {
  if (a.length === b.length && a.charCodeAt(0) !== zeroCharCode && b.charCodeAt(0) !== zeroCharCode)
    return compareTexts(a, b);
  const x = trimLeadingZeros(a);
  const y = trimLeadingZeros(b);
  return x.length - y.length || compareTexts(x, y) || a.length - b.length;
}

const zeroCharCode = 48;

function trimLeadingZeros(id: string): string {
  return id.replace(/^0+/, '');
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
