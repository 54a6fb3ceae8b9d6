import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Config, readConfig } from '../../src/app/config.ts';
import { UserError } from '../../src/lib/errors.ts';
import { author, homer, openLoginSite, stranger } from '../support/login-site.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { startTestService } from '../support/service.ts';
import { Visitor } from '../support/visitor.ts';

describe('the login of the demo', () => {
  it('is constructed by botshelf demo only, and no other command loads it', () => {
    const src = fileURLToPath(new URL('./src/', import.meta.resolve('#package')));
    const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.tsx?$/.test(name),
    );
    const filesWith = (text: RegExp): string[] =>
      files.filter((name) => text.test(readFileSync(join(src, name), 'utf8')));
    deepStrictEqual(filesWith(/import (?!type )[^;]*'[^']*demo-provider\.ts'|import\([^)]*demo-provider/), [
      'commands/demo.ts',
    ]);
    deepStrictEqual(filesWith(/new DemoProvider\b/), ['commands/demo.ts']);
    deepStrictEqual(filesWith(/import [^;]*\breadDemoConfig\b/), ['commands/demo.ts']);
    deepStrictEqual(filesWith(/import [^;]*'[^']*\/demo\.ts'|import\([^)]*\/demo\.ts/), [
      'commands/add-commands.ts',
    ]);
  });

  it('is switched on by no variable of the environment', () => {
    const names = new Set(['BOTSHELF_DEMO', 'BOTSHELF_LOGIN', 'BOTSHELF_OAUTH', 'DEMO', 'demo']);
    readConfig(new Proxy({}, { get: (_, name) => void names.add(String(name)) }));
    ok(names.size > 40);
    const values = ['demo', 'Demo', 'on', 'true', '1', '0', '42', '[]', '{}', people, 'https://demo.example'];
    const read = (env: NodeJS.ProcessEnv): Pick<Config, 'demo'> | undefined => {
      try {
        return readConfig(env);
      } catch (error) {
        ok(error instanceof UserError);
        return undefined;
      }
    };
    for (const value of values) {
      for (const name of names) strictEqual(read({ [name]: value })?.demo ?? null, null, name);
      strictEqual(read(Object.fromEntries([...names].map((name) => [name, value])))?.demo ?? null, null);
    }
  });

  it('is switched on by nothing in botshelf.json: a service without a provider has no login @slow', async () => {
    const all = { maintainers: ['42'], demo: true, login: 'demo', people: JSON.parse(people) as unknown };
    const env = { BOTSHELF_DEMO: 'on', BOTSHELF_DEV: 'on', BOTSHELF_OAUTH_DEMO: 'on' };
    for (const file of [all, { maintainers: ['42'] }]) {
      const { request, expectLog } = await startTestService(
        { [pagePath(homer)]: mainPage({}), 'botshelf.json': JSON.stringify(file) },
        { env },
      );
      expectLog(/there is no such setting|botshelf\.json/);
      for (const path of ['/login', '/login/people', '/login/callback?account=42'])
        strictEqual((await request(path)).status, 404, path);
    }
  });

  it('is not beside a provider: nobody is logged in without it @slow', async () => {
    const { baseUrl, provider, service } = await openLoginSite({ env: { BOTSHELF_DEMO: 'on' } });
    service.expectLog(/there is no such setting/);
    const visitor = new Visitor();
    visitor.stopBefore = provider.issuer;
    const { url } = await visitor.go(`${baseUrl}/login`);
    strictEqual(url.origin, provider.issuer);
    strictEqual((await visitor.go(`${baseUrl}/login/people`)).status, 404);
    for (const state of [url.searchParams.get('state'), '']) {
      for (const account of [author, stranger]) {
        await visitor.go(`${baseUrl}/login`);
        const address = `${baseUrl}/login/callback?state=${state}&account=${account}`;
        const { status, headers } = await visitor.go(address);
        deepStrictEqual(
          [status >= 400, headers.getSetCookie().some((line) => /^__Host-botshelf=./.test(line))],
          [true, false],
        );
      }
    }
  });
});

const people = JSON.stringify([{ id: '42', name: 'Marge', role: 'maintainer', bots: '' }]);
