declare const brand: unique symbol;

/** The id of an account on the chat platform, as `authors` names it: 1–20 decimal digits. */
export type AccountId = string & { readonly [brand]: 'AccountId' };

/** Returns `text` as an account id; undefined when it is not one. The only way to get an AccountId. */
export function parseAccountId(text: string): AccountId | undefined {
  return /^[0-9]{1,20}$/.test(text) ? (text as AccountId) : undefined;
}
