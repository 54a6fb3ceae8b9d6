/**
 * The page of ours that a login leads back to: `text` where it is the path of one, else the front page. Nothing
 * else is ever redirected to, so that no link through the login leads to another site.
 */
export function returnPath(text: string | undefined): string {
  return text !== undefined && pages.test(text) ? text : '/';
}

const pages = /^\/(?:bots\/[0-9]{1,20}(?:\/token)?|add)?$/;
