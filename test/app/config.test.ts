import { deepStrictEqual, match, ok, strictEqual, throws } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigError, readConfig } from '../../src/app/config.ts';
import { botshelf } from '../support/command-line.ts';
import { tempFolder } from '../support/temp-folder.ts';

const list = fileURLToPath(new URL('docs/configuration.md', import.meta.resolve('#package')));
const documented = readFileSync(list, 'utf8').match(/(?<=^- `)BOTSHELF_\w+/gm) ?? [];

describe('the configuration of a remote', () => {
  it('is none unless there is one; then it has what is set, and defaults for the rest', () => {
    strictEqual(readConfig({}).remote, null);
    deepStrictEqual(readConfig({ BOTSHELF_REMOTE: 'origin', BOTSHELF_ACK: 'remote' }).remote, {
      remote: 'origin',
      branch: null,
      syncSeconds: 60,
      pushSeconds: 10,
      ack: 'remote',
      webhookSecret: null,
    });
  });
});

describe('a setting that cannot be used', () => {
  it('is named, with what to give', () => {
    const host = { BOTSHELF_PROPOSALS: 'host' };
    const readOnly = { BOTSHELF_READ_ONLY: 'on', BOTSHELF_REMOTE: 'origin' };
    const faults: readonly (readonly [env: Readonly<Record<string, string>>, fault: RegExp])[] = [
      [{ BOTSHELF_REMOTE: '--upload-pack=x' }, /BOTSHELF_REMOTE begins with -/],
      [{ BOTSHELF_REMOTE: 'o', BOTSHELF_BRANCH: 'a b' }, /BOTSHELF_BRANCH is "a b"/],
      [{ BOTSHELF_REMOTE: 'o', BOTSHELF_ACK: 'never' }, /set it to "local" or "remote"/],
      [{ BOTSHELF_REMOTE: 'o', BOTSHELF_SYNC_SECONDS: '0' }, /BOTSHELF_SYNC_SECONDS is "0"/],
      [{ BOTSHELF_REMOTE: 'o', BOTSHELF_WEBHOOK_SECRET: '15 characters .' }, /_SECRET has fewer than 16/],
      [{ BOTSHELF_WEBHOOK_SECRET: 'x' }, /BOTSHELF_WEBHOOK_SECRET is set, but BOTSHELF_REMOTE is not/],
      [{ BOTSHELF_READ_ONLY: 'on' }, /BOTSHELF_READ_ONLY is on, but BOTSHELF_REMOTE is not set/],
      [{ BOTSHELF_CANONICAL_URL: 'https://a.example' }, /_URL is set, but BOTSHELF_READ_ONLY is not on/],
      [
        { ...readOnly, BOTSHELF_ACK: 'local' },
        /BOTSHELF_ACK is set, but has no use where BOTSHELF_READ_ONLY is on/,
      ],
      [
        { ...readOnly, BOTSHELF_PROPOSALS: 'host', BOTSHELF_NOTIFY_URL: 'https://a.example' },
        /PROPOSALS.*\n.*NOTIFY_URL/,
      ],
      [{ ...readOnly, BOTSHELF_CANONICAL_URL: 'x' }, /BOTSHELF_CANONICAL_URL is "x"/],
      [host, /BOTSHELF_REMOTE is not set: proposals are pushed/],
      [host, /BOTSHELF_HOST_TOKEN is not set: give a token/],
      [{ BOTSHELF_HOST_API: 'https://me:secret@x' }, /BOTSHELF_HOST_API is not an address that can be used/],
      [{ BOTSHELF_HOST_KIND: 'hub' }, /set it to "github", "gitlab", or "forgejo"/],
      [
        { BOTSHELF_LOG_LEVEL: 'loud' },
        /_LOG_LEVEL is "loud": set it to "debug", "info", "warn", or "error"\./,
      ],
      [{ PORT: '81', BOTSHELF_PROBE_PORT: '81' }, /BOTSHELF_PROBE_PORT is 81, as PORT is/],
    ];
    for (const [env, fault] of faults) throws(() => readConfig(env), { name: 'ConfigError', message: fault });
    for (const path of ['/a b', '/a%20b', '/a;b', '//a', '/a//b', '/api', '/api/v2', '/a?b', '/a#b'])
      throws(
        () => readConfig({ BOTSHELF_BASE_URL: `https://example.org${path}` }),
        /BOTSHELF_BASE_URL is ".+": set it to an address such as/,
      );
    for (const contact of [
      'nobody',
      'http://a.org',
      'javascript:alert(1)',
      'https://a b',
      'a@b.c\nExpires: x',
    ])
      throws(
        () => readConfig({ BOTSHELF_SECURITY_CONTACT: contact }),
        /BOTSHELF_SECURITY_CONTACT is .*: give a/,
      );
  });
});

describe('the review at the Git host', () => {
  it('has no settings unless they are given', () => {
    deepStrictEqual(readConfig({}).hostReview, { kind: null, api: null, token: null });
    const env = {
      BOTSHELF_PROPOSALS: 'host',
      BOTSHELF_REMOTE: 'origin',
      BOTSHELF_HOST_KIND: 'github',
      BOTSHELF_HOST_API: 'https://github.example.org/api/v3/',
      BOTSHELF_HOST_TOKEN: 'x',
    };
    const hostReview = { kind: 'github', api: 'https://github.example.org/api/v3', token: 'x' };
    deepStrictEqual(readConfig(env).hostReview, hostReview);
  });
});

describe('the address of notifications', () => {
  it('is one of https, or of this machine', () => {
    strictEqual(readConfig({}).notifyUrl, null);
    for (const url of [
      'https://discord.com/api/webhooks/1/x?wait=true',
      'http://localhost:1/',
      'http://127.0.0.1/x',
    ])
      strictEqual(readConfig({ BOTSHELF_NOTIFY_URL: url }).notifyUrl, url);
  });

  it('is a secret: no fault has it', () => {
    for (const url of [
      'http://example.org/x',
      'ftp://localhost/x',
      'https://x:y@example.org/x',
      'https:///x y',
      'x',
    ])
      throws(
        () => readConfig({ BOTSHELF_NOTIFY_URL: url }),
        (error) => {
          match(String(error), /BOTSHELF_NOTIFY_URL is not an address that notices can be sent to: give/);
          return !String(error).includes(url);
        },
      );
  });
});

describe('the public address', () => {
  it('may have a path, and ends without a slash', () => {
    for (const [text, baseUrl] of [
      ['https://bots.example.org/', 'https://bots.example.org'],
      ['https://Example.org:443/bots/', 'https://example.org/bots'],
      ['http://localhost:8080/a/b_c.d~e-f', 'http://localhost:8080/a/b_c.d~e-f'],
      ['https://example.org/apis', 'https://example.org/apis'],
    ] as const)
      strictEqual(readConfig({ BOTSHELF_BASE_URL: text }).baseUrl, baseUrl);
    strictEqual(readConfig({ PORT: '81' }).baseUrl, 'http://localhost:81');
  });
});

describe('a secret from a file', () => {
  const folder = tempFolder();
  const file = (name: string, content: string | Buffer): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const secret = 'a-secret-of-more-than-32-characters';

  it('is read from the file that NAME_FILE names, for each setting that holds one', () => {
    const config = readConfig({
      BOTSHELF_SECRET_FILE: file('seal', `${secret}, ${secret}2\n`),
      BOTSHELF_REMOTE_FILE: file('remote', 'https://shelf:key@git.example.org/bots.git\r\n'),
      BOTSHELF_WEBHOOK_SECRET_FILE: file('webhook', ` ${secret}\n\n`),
      BOTSHELF_OAUTH_PROVIDER: 'discord',
      BOTSHELF_OAUTH_CLIENT_ID: '1',
      BOTSHELF_OAUTH_CLIENT_SECRET_FILE: file('client', secret),
    });
    deepStrictEqual(
      [config.secrets, config.remote?.remote, config.remote?.webhookSecret, config.login?.clientSecret],
      [[secret, `${secret}2`], 'https://shelf:key@git.example.org/bots.git', ` ${secret}\n`, secret],
    );
    deepStrictEqual(config.unknown, []);
  });

  it('is read from a credential of systemd with the name of the setting', () => {
    file('BOTSHELF_SECRET', secret);
    deepStrictEqual(readConfig({ CREDENTIALS_DIRECTORY: folder }).secrets, [secret]);
  });

  it('stops the start, in one sentence without the secret, where it cannot be used or is given twice', () => {
    file('BOTSHELF_WEBHOOK_SECRET', secret);
    mkdirSync(join(folder, 'folder'));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    const credentials = { CREDENTIALS_DIRECTORY: folder };
    for (const [env, fault] of [
      [{ BOTSHELF_SECRET_FILE: '/no/file' }, /_SECRET_FILE cannot be used: ENOENT.*\/no\/file/],
      [{ BOTSHELF_SECRET_FILE: join(folder, 'folder') }, /folder is not a file/],
      [{ BOTSHELF_SECRET_FILE: join(folder, 'pipe') }, /pipe is not a file/],
      [{ BOTSHELF_SECRET_FILE: file('empty', '\n') }, /empty is empty/],
      [{ BOTSHELF_SECRET_FILE: file('large', 'x'.repeat(16_385)) }, /large has more than 16384 bytes/],
      [{ BOTSHELF_SECRET_FILE: file('bytes', Buffer.from([0xff, 0xfe])) }, /bytes is not UTF-8/],
      [{ BOTSHELF_SECRET_FILE: file('nul', `${secret}\0`) }, /nul is not a text file/],
      [
        { BOTSHELF_OAUTH_PROVIDER: 'discord', BOTSHELF_OAUTH_CLIENT_SECRET_FILE: '/no/file' },
        /^BOTSHELF_OAUTH_CLIENT_SECRET_FILE cannot be used/,
      ],
      [
        { BOTSHELF_SECRET: secret, BOTSHELF_SECRET_FILE: join(folder, 'client') },
        /^BOTSHELF_SECRET and BOTSHELF_SECRET_FILE are both set/,
      ],
      [
        { ...credentials, BOTSHELF_SECRET: '', BOTSHELF_WEBHOOK_SECRET_FILE: join(folder, 'client') },
        /^BOTSHELF_WEBHOOK_SECRET_FILE and the credential BOTSHELF_WEBHOOK_SECRET of systemd are both set/,
      ],
    ] as const) {
      throws(
        () => readConfig(env),
        (error) => {
          const message = error instanceof ConfigError ? error.message : '';
          match(message, fault);
          ok(!message.includes('\n') && !message.includes(secret), message);
          return true;
        },
      );
    }
  });

  it('ends the service with status 2 where it cannot be read', async () => {
    const run = await botshelf(folder, ['serve'], { env: { BOTSHELF_SECRET_FILE: '/no/file' } });
    deepStrictEqual([run.code, run.stderr.match(/\n/g)?.length], [2, 1]);
    match(run.stderr, /^BOTSHELF_SECRET_FILE cannot be used: /);
  });

  it('is documented for each setting that holds one', () => {
    const read: string[] = [];
    readConfig(new Proxy({}, { get: (_, name) => void read.push(String(name)) }));
    const names = documented.filter((name) => name.endsWith('_FILE'));
    deepStrictEqual(names.toSorted(), [...new Set(read)].filter((name) => name.endsWith('_FILE')).toSorted());
  });
});

describe('the contact for security', () => {
  it('is a URI; a mail address becomes one', () => {
    const contactOf = (value: string): string | null =>
      readConfig({ BOTSHELF_SECURITY_CONTACT: value }).securityContact;
    strictEqual(readConfig({}).securityContact, null);
    strictEqual(contactOf('security@example.org'), 'mailto:security@example.org');
    strictEqual(contactOf('mailto:security@example.org'), 'mailto:security@example.org');
    strictEqual(contactOf('https://example.org/security'), 'https://example.org/security');
  });
});

describe('botshelf settings', () => {
  it('lists every setting that the configuration reads, with its default, and no other', async () => {
    const read: string[] = [];
    readConfig(new Proxy({}, { get: (_, name) => void read.push(String(name)) }));
    const { stdout } = await botshelf(tempFolder(), ['settings']);
    const listed = stdout.match(/^[A-Z_]+$/gm) ?? [];
    const others = new Set(['CREDENTIALS_DIRECTORY', 'JOURNAL_STREAM', 'NODE_ENV', 'NOTIFY_SOCKET']);
    deepStrictEqual(listed.toSorted(), [...new Set(read)].filter((name) => !others.has(name)).toSorted());
    match(stdout, /^PORT\n {2}8080: the port to listen on/m);
  });

  it('has what is in force and where it is from, and never a secret', async () => {
    const file = join(tempFolder(), 'webhook');
    writeFileSync(file, 'word-of-sixteen-letters');
    const env = {
      PORT: '9090',
      BOTSHELF_REMOTE: 'https://homer:hush@git.example.org/a.git',
      BOTSHELF_WEBHOOK_SECRET_FILE: file,
    };
    const { stdout } = await botshelf(tempFolder(), ['settings'], { env });
    const now = (name: string): string | undefined =>
      new RegExp(`^${name}\\n(?: {2}.*\\n)*? {2}now: (.*)$`, 'm').exec(stdout)?.[1];
    deepStrictEqual(
      ['PORT', 'HOST', 'BOTSHELF_REMOTE', 'BOTSHELF_WEBHOOK_SECRET', 'BOTSHELF_WEBHOOK_SECRET_FILE'].map(now),
      [
        '9090, from the environment',
        'the default',
        'set, from the environment',
        'set, from BOTSHELF_WEBHOOK_SECRET_FILE',
        `${file}, from the environment`,
      ],
    );
    strictEqual(/hush|word-of/.exec(stdout), null);
  });

  it('is named by the help of serve with the most used ones', async () => {
    const { stdout } = await botshelf(tempFolder(), ['serve', '--help']);
    match(stdout, /botshelf settings lists/);
    for (const [name] of stdout.matchAll(/\bBOTSHELF_[A-Z_]+/g))
      ok(new Set<string>(documented).has(name), name);
    match((await botshelf(tempFolder(), ['demo', '--help'])).stdout, /settings are HOST and PORT/);
  });
});

describe('a variable of the environment that means nothing', () => {
  it('is reported with the nearest known name; a documented one is not', () => {
    ok(documented.length > 20);
    const values = { BOTSHELF_REMOTE: 'origin', BOTSHELF_ACK: 'local', BOTSHELF_STATE_SECNODS: '5' };
    deepStrictEqual(readConfig({ ...values, HOME: '/', BOTSHELF_CATALOG: 'x' }).unknown, [
      'BOTSHELF_STATE_SECNODS is set, but there is no such setting: did you mean BOTSHELF_STATE_SECONDS?',
      'BOTSHELF_CATALOG is set, but there is no such setting: did you mean BOTSHELF_CATALOGUE?',
    ]);
    deepStrictEqual(readConfig(Object.fromEntries(documented.map((name) => [name, '']))).unknown, []);
  });
});

describe('the settings of the log', () => {
  it('are level, format and whether each request is logged', () => {
    const { log, accessLog } = readConfig({});
    deepStrictEqual([log, accessLog], [{ level: 'info', format: null, isJournal: false }, false]);
    const set = readConfig({ BOTSHELF_LOG_LEVEL: 'Warn', BOTSHELF_LOG_FORMAT: 'pretty' });
    deepStrictEqual(set.log, { level: 'warn', format: 'pretty', isJournal: false });
  });
});
