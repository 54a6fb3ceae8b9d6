/** The page that a visitor sees. */
export interface Page {
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * A visitor with a browser's bare bones: follows redirects, keeps each host's cookies, presses links and buttons. Sends
 * forms as a browser does, and to each host only its own cookies.
 */
export class Visitor {
  /** By host and name. */
  readonly cookies = new Map<string, Map<string, string>>();
  /** The visitor stops before addresses that begin with this. */
  stopBefore: string | undefined;

  /** Goes to an address as from a bookmark, or `from` a page. */
  async go(address: string | URL, init: RequestInit = {}): Promise<Page> {
    let url = new URL(address);
    let request = init;
    for (let hop = 0; hop < 15; hop++) {
      const response = await fetch(url, {
        ...request,
        headers: this.#headers(url, request),
        redirect: 'manual',
        // A response that never comes fails its test.
        signal: AbortSignal.timeout(60_000),
      });
      this.#keep(url, response);
      const location = response.headers.get('location');
      if (location === null) {
        return { url, status: response.status, headers: response.headers, text: await response.text() };
      }
      await response.arrayBuffer();
      url = new URL(location, url);
      if (this.stopBefore !== undefined && url.href.startsWith(this.stopBefore)) {
        return { url, status: 0, headers: new Headers(), text: '' };
      }
      request = {};
    }
    throw new Error(`too many redirects, the last to ${url.href}`);
  }

  /** Presses the only button of the form whose action begins with `action`, with more filled in. */
  async press(page: Page, action: string, fields: Readonly<Record<string, string>> = {}): Promise<Page> {
    const target = new URL(action, page.url);
    const site = target.origin === page.url.origin ? 'same-origin' : 'cross-site';
    return await this.go(target, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        origin: page.url.origin,
        'sec-fetch-site': site,
      },
      body: new URLSearchParams(fields).toString(),
    });
  }

  /** Logs in on the login page of the test provider, and consents. */
  async logIn(page: Page, account: string): Promise<Page> {
    const fields = { prompt: 'login', login: account, password: 'any' };
    let next = await this.press(page, actionOf(page), fields);
    if (next.text.includes('value="consent"'))
      next = await this.press(next, actionOf(next), { prompt: 'consent' });
    return next;
  }

  #headers(url: URL, { headers }: RequestInit): Headers {
    const sent = new Headers(headers);
    const cookies = [...(this.cookies.get(url.host) ?? [])].map(([name, value]) => `${name}=${value}`);
    if (cookies.length > 0) sent.set('cookie', cookies.join('; '));
    return sent;
  }

  #keep(url: URL, response: Response): void {
    const jar = this.cookies.get(url.host) ?? new Map<string, string>();
    this.cookies.set(url.host, jar);
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /max-age=0|expires=thu, 01 jan 1970/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
  }
}

/** The version of a proposal in the form of a page. */
export function versionIn({ text }: Page): string {
  return /name="version" value="(\w+)"/.exec(text)?.[1] ?? '';
}

/** The target of the first form of a page. */
export function actionOf({ text }: Page): string {
  const action = /<form[^>]*action="([^"]*)"/.exec(text)?.[1];
  if (action === undefined) throw new Error(`there is no form in ${text.slice(0, 500)}`);
  return action.replaceAll('&amp;', '&');
}
