/**
 * Returns the path that a login redirects to: `text` where it is the path of a known page, else the front page. So no link
 * through the login can lead to another site.
 */
export function returnPath(text: string | undefined): string {
  return text !== undefined && pages.test(text) ? text : '/';
}

const pages = /^\/(?:bots\/[0-9]{1,20}(?:\/token)?|add)?$/;
