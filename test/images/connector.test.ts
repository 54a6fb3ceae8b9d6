import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { ImageConnector } from '../../src/images/connector.ts';
import { isPublicAddress } from '../../src/lib/network.ts';
import { ImageError } from '../../src/images/decoder.ts';
import { fixtureLines } from '../support/fixture-lines.ts';
import { type Answer, bytes, redirect, type Site, startSite, testConnector } from '../support/https-site.ts';

const image = Buffer.from('as good as an image, until it is decoded');

describe('the image connector', () => {
  it('fetches the bytes of an image, by name and by address', async () => {
    const site = await startSite({ '/avatar.png': bytes(image) });
    const connector = await testConnector();
    deepEqual(await connector.fetch(`https://cdn.images.test:${site.port}/avatar.png`), image);
    deepEqual(await connector.fetch(`https://127.0.0.1:${site.port}/avatar.png#top`), image);
  });

  it('fetches from the third address of a host where nothing listens at the first two', async () => {
    const site = await startSite({ '/avatar.png': bytes(image) });
    const dead = ['127.0.0.2', '127.0.0.3'];
    const names = { 'several.images.test': () => [...dead, '127.0.0.1'] };
    const connector = await testConnector({ names, allowed: dead });
    deepEqual(await connector.fetch(`https://several.images.test:${site.port}/avatar.png`), image);
  });

  it('names itself, and sends no cookie and no referrer, even after a redirect that sets one', async () => {
    const site = await startSite({ '/avatar.png': bytes(image) });
    site.answers['/begin'] = (response) => {
      response.writeHead(302, { location: '/avatar.png', 'set-cookie': 'who=you' }).end();
    };
    const connector = await testConnector();
    await connector.fetch(`https://images.test:${site.port}/begin`);
    const headers = site.requests.at(-1)?.headers ?? {};
    equal(headers['user-agent'], 'Botshelf image cache (+https://bots.example.org)');
    deepEqual([headers.cookie, headers.referer, headers.authorization], [undefined, undefined, undefined]);
  });

  it('follows three redirects, and not a fourth', async () => {
    const site = await startSite({
      '/4': redirect('/3'),
      '/3': redirect('/2'),
      '/2': redirect('/1'),
      '/1': redirect('/avatar.png'),
      '/avatar.png': bytes(image),
    });
    const connector = await testConnector();
    const at = (path: string): string => `https://images.test:${site.port}${path}`;
    deepEqual(await connector.fetch(at('/3')), image);
    await refusal(connector.fetch(at('/4')), /redirects more than 3 times/);
  });

  it('uses https alone, at the start and after a redirect', async () => {
    const site = await startSite({ '/plain': redirect('http://images.test/avatar.png') });
    const connector = await testConnector();
    for (const url of ['http://images.test/a.png', 'file:///etc/passwd', 'data:image/png;base64,AAAA']) {
      await refusal(connector.fetch(url), /instead of https:/);
    }
    await refusal(connector.fetch(`https://images.test:${site.port}/plain`), /to http: instead of https:/);
  });

  it('does not trust a certificate of another name', async () => {
    const site = await startSite({ '/avatar.png': bytes(image) });
    const connector = await testConnector({ names: { 'elsewhere.test': () => ['127.0.0.1'] } });
    await refusal(connector.fetch(`https://elsewhere.test:${site.port}/avatar.png`), /cannot be fetched/);
    deepEqual(site.asked, []);
  });

  it('tells a fault of the host from a fault of the image', async () => {
    const site = await startSite({ '/429': status(429), '/503': status(503), '/410': status(410) });
    const connector = await testConnector();
    for (const [url, blame] of [
      [`https://images.test:${site.port}/410`, 'image'],
      [`https://images.test:${site.port}/404`, 'image'],
      [`https://images.test:${site.port}/429`, 'host'],
      [`https://images.test:${site.port}/503`, 'host'],
      ['https://nowhere.invalid/a.png', 'host'],
    ] as const)
      await rejects(connector.fetch(url), { retry: blame });
  });
});

describe('the image connector and addresses that are not public', () => {
  let secret: Site;

  before(async () => {
    secret = await startSite({ '/': bytes('secret') });
  });

  for (const spelling of fixtureLines('addresses-not-public.txt'))
    it(`refuses the literal address ${spelling}, which needs no look-up`, async () => {
      const connector = new ImageConnector();
      await refusal(connector.fetch(`https://${spelling}:${secret.port}/`), /an address that is not public$/);
      await connector.close();
      equal(secret.connections, 0);
    });

  it('takes the addresses of the public internet', () => {
    for (const address of ['8.8.8.8', '::ffff:8.8.8.8', '2606:4700::1111'])
      equal(isPublicAddress(address), true);
    for (const text of ['', 'localhost', '127.0.0.1', '::7f00:1', '2001:db8::1']) {
      equal(isPublicAddress(text), false);
    }
  });

  it('redirect to 127.0.0.1: a redirect to this machine is refused', async () => {
    const inner = await startSite({ '/': bytes('secret') }, '127.0.0.2');
    const site = await startSite({
      '/literal': redirect(`https://127.0.0.2:${inner.port}/`),
      '/name': redirect(`https://inner.test:${inner.port}/`),
    });
    const connector = await testConnector({ names: { 'inner.test': () => ['127.0.0.2'] } });
    for (const path of ['/literal', '/name']) {
      await refusal(connector.fetch(`https://images.test:${site.port}${path}`), /that is not public$/);
    }
    equal(inner.connections, 0);
  });

  it('rebinding name: what was looked up is what is connected to, and every new look-up is checked', async () => {
    const site = await startSite({ '/': bytes(image, 'image/png', { connection: 'close' }) });
    const connector = await testConnector({
      names: { 'rebinding.images.test': (question) => [question === 1 ? '127.0.0.1' : '127.0.0.2'] },
    });
    const url = `https://rebinding.images.test:${site.port}/`;
    deepEqual(await connector.fetch(url), image);
    await refusal(connector.fetch(url), /that is not public$/);
    equal(site.connections, 1);
  });

  it('mixed answers: one address that is not public spoils the name', async () => {
    const site = await startSite({ '/': bytes(image) });
    const connector = await testConnector({ names: { 'mixed.test': () => ['127.0.0.1', '10.0.0.1'] } });
    await refusal(connector.fetch(`https://mixed.test:${site.port}/`), /that is not public$/);
    equal(site.connections, 0);
  });
});

describe('the image connector and hostile answers', () => {
  const chunk = Buffer.alloc(64 * 1024);

  it('endless body: reading stops at the limit and hangs up', async () => {
    let hungUp: Promise<void> | undefined;
    await refusalOf((response) => {
      hungUp = new Promise((resolve) => {
        response.once('close', resolve);
      });
      response.writeHead(200, { 'content-type': 'image/png' });
      const more = (): void => {
        while (response.write(chunk));
        response.once('drain', more);
      };
      more();
    }, /larger than 8 MiB/);
    await hungUp;
  });

  const drip: Answer = (response) => {
    response.writeHead(200, { 'content-type': 'image/png' });
    const timer = setInterval(() => response.write('.'), 20);
    response.once('close', () => clearInterval(timer));
  };
  const svg = bytes('<svg xmlns="http://www.w3.org/2000/svg"/>', 'image/svg+xml');
  const secret = redirect('https://me:secret@images.test/');
  const untyped: Answer = (response) => void response.writeHead(200).end(image);
  for (const [name, answer, message, timeLimit] of [
    ['10 MB: what says it is too large is not read', bytes(Buffer.alloc(10_000_000)), /larger than 8 MiB/],
    ['slow drip: the time limit is for all of it', drip, /did not arrive within 0\.3 s/, 300],
    ['silence: the time limit is for what never comes', () => {}, /did not arrive within 0\.3 s/, 300],
    ['a page is not read', bytes(image, 'text/html; charset=utf-8'), /not that of an image/],
    ['what has no type is not read', untyped, /not that of an image/],
    ['an SVG is not read', svg, /is an SVG/],
    ['a name and a password in a redirect are refused', secret, /user name or password/],
  ] as const)
    it(name, async () => void (await refusalOf(answer, message, timeLimit)));

  it('gzip bomb: a Content-Encoding is refused, not unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const answer = bytes(bomb, 'image/png', { 'content-encoding': 'gzip' });
    const site = await refusalOf(answer, /Content-Encoding gzip/);
    equal(site.requests[0]?.headers['accept-encoding'], 'identity');
  });

  it('ends when nobody waits for the image any more', async () => {
    const abort = new AbortController();
    const site = await startSite({ '/': () => abort.abort() });
    const connector = await testConnector();
    await refusal(connector.fetch(`https://images.test:${site.port}/`, abort.signal), /was cancelled/);
    await refusal(connector.fetch(`https://images.test:${site.port}/`, abort.signal), /was cancelled/);
  });
});

function status(code: number): Answer {
  return (response) => {
    response.writeHead(code, { 'content-type': 'image/png' }).end();
  };
}

/** Serves an answer, and checks that it is refused. */
async function refusalOf(answer: Answer, message: RegExp, timeLimit?: number): Promise<Site> {
  const site = await startSite({ '/': answer });
  const connector = await testConnector(timeLimit === undefined ? {} : { timeLimit });
  await refusal(connector.fetch(`https://images.test:${site.port}/`), message);
  return site;
}

async function refusal(fetching: Promise<Buffer>, message: RegExp): Promise<void> {
  await rejects(fetching, (error: unknown) => {
    equal(error instanceof ImageError, true, String(error));
    match(String(error), message);
    return true;
  });
}
