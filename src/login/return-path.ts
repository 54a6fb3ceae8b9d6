/**
 * Returns the public path that a login redirects to: `text` where it has the form of a page's path, with or without a query,
 * and is not of the login itself, else the front page. So no link through the login can lead to another site.
 * @param basePath the path of the public address; empty where it has none
 */
export function parseReturnPath(text: string | undefined, basePath = ''): string {
  return text?.startsWith(basePath) && pages.test(text.slice(basePath.length)) ? text : `${basePath}/`;
}

/** Below the path of the public address. */
const pages = /^(?!\/log)(?:\/|(?:\/[a-z0-9-]{1,80}){1,4})(?:\?[\w=&%.+~*-]{1,1000})?$/;
