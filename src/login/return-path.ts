/**
 * Returns the public path that a login redirects to: `text` where it is the path of a known page, with or without a query,
 * else the front page. So no link through the login can lead to another site.
 * @param basePath the path of the public address; empty where it has none
 */
export function parseReturnPath(text: string | undefined, basePath = ''): string {
  return text?.startsWith(basePath) && pages.test(text.slice(basePath.length)) ? text : `${basePath}/`;
}

/** Below the path of the public address. */
const pages =
  /^\/(?:bots\/[0-9]{1,20}(?:\/(?:token|edit|translate))?|(?:proposals\/|review\/(?:[a-z0-9-]{1,80}\/)?)[a-z0-9-]{1,80}|add(?:\/collection)?|docs|review|my-bots(?:\/name)?|compare|authors\/[0-9]{1,20}|collections(?:\/[a-z0-9-]{1,60}(?:\/(?:edit|translate))?)?|categories\/[a-z][a-z0-9-]{0,19})?(?:\?[\w=&%.+~*-]{1,1000})?$/;
