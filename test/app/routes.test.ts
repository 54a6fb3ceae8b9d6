import { deepStrictEqual } from 'node:assert/strict';
import { join } from 'node:path';
import { Router } from '@koa/router';
import { routes } from '../support/hostile-routes.ts';
import { openLoginSite } from '../support/login-site.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('the routes of a service with a login and a webhook', () => {
  const { register } = Router.prototype;
  afterEach(() => (Router.prototype.register = register));

  it('are those that hostile requests are sent to', async () => {
    const found: string[] = [];
    Router.prototype.register = function (path, methods, ...rest) {
      if (!Array.isArray(path))
        found.push(...methods.map((method) => `${method.toUpperCase()} ${String(path)}`));
      return register.call(this, path, methods, ...rest);
    };
    await openLoginSite({
      env: {
        BOTSHELF_REMOTE: 'origin',
        BOTSHELF_SYNC_SECONDS: '86400',
        BOTSHELF_WEBHOOK_SECRET: 'a-secret-of-the-tests',
      },
      prepare: async ({ git }) => {
        const origin = join(tempFolder(), 'origin');
        git('clone', '-q', '--bare', '.', origin);
        git('remote', 'add', 'origin', origin);
      },
    });
    const named = found.filter((route) => !/^GET \/(?:assets|assets\/fonts|clients)\/[\w.-]+$/.test(route));
    deepStrictEqual(named.toSorted(), Object.keys(routes).toSorted());
  });
});
