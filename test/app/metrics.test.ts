import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { parse as parseYaml } from 'yaml';
import { readPackageFile } from '../support/package-files.ts';
import { testRepository, type TestRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { issueTestToken } from '../support/token.ts';

interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly action: string };
}

interface Dashboard {
  readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
  readonly templating: { readonly list: readonly { readonly query: string | { readonly query: string } }[] };
}

/** Returns the text of a file of docs/. */
const homer = '190519304972663312';

describe('/metrics', () => {
  let repo: TestRepository;
  let service: TestService;

  before(async () => {
    repo = testRepository({
      [pagePath(homer)]: mainPage(),
      [pagePath('42')]: mainPage({ name: 'Bart', invite: 'nonsense' }),
    });
    service = await startTestService({}, { root: repo.folder });
    service.expectLog(/42\.en\.md.*a file breaks a rule/);
  });

  const metrics = async (): Promise<Map<string, number>> => {
    const answer = await fetch(`${service.address}/metrics`);
    strictEqual(answer.status, 200);
    match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    strictEqual(answer.headers.get('cache-control'), 'no-store');
    const lines = (await answer.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return new Map(
      lines.map((line) => {
        const space = line.lastIndexOf(' ');
        return [line.slice(0, space), Number(line.slice(space + 1))];
      }),
    );
  };
  const post = async (body: object): Promise<number> => {
    const token = await issueTestToken(repo.folder, homer);
    const answer = await service.post(homer, token, body);
    return answer.status;
  };

  it('has at the first scrape the bots, faulty files, parts of the service, event loop and memory', async () => {
    const found = await metrics();
    strictEqual(found.get('botshelf_bots'), 1);
    strictEqual(found.get('botshelf_faulty_files'), 1);
    strictEqual(found.get('botshelf_part_ready{part="catalogue"}'), 1);
    strictEqual(found.get('botshelf_part_faults{part="state"}'), 0);
    ok(found.has('nodejs_eventloop_lag_p99_seconds'));
    ok((found.get('process_resident_memory_bytes') ?? 0) > 1_000_000);
  });

  it('counts requests by the pattern of their path, however many paths there are', async () => {
    for (const id of ['1', '2', '3']) await service.request(`/api/v2/bots/${id}`);
    await service.request('/nonsense/1');
    await service.request('/nonsense/2');
    const found = await metrics();
    const count = 'botshelf_http_request_duration_seconds_count';
    strictEqual(found.get(`${count}{method="GET",route="/api/v2/bots/:id",status="404"}`), 3);
    strictEqual(found.get(`${count}{method="GET",route="none",status="404"}`), 2);
    ok(![...found.keys()].some((name) => name.includes('nonsense')));
  });

  it('counts what the response cache answered', async () => {
    const path = `/api/v2/bots/${homer}`;
    const { headers } = await service.request(path);
    await service.request(path);
    await service.request(path);
    await service.request(path, { headers: { 'if-none-match': headers.get('etag') ?? '' } });
    const found = await metrics();
    strictEqual(found.get('botshelf_http_repeated_responses_total{status="200"}'), 2);
    strictEqual(found.get('botshelf_http_repeated_responses_total{status="304"}'), 1);
  });

  describe('as the dashboard and the alerts use it', () => {
    const dashboard = readPackageFile('docs/dashboard.json');
    const alerts = (
      parseYaml(readPackageFile('docs/alerts.yml')) as { groups: { rules: AlertRule[] }[] }
    ).groups.flatMap(({ rules }) => rules);
    const { panels, templating } = JSON.parse(dashboard) as Dashboard;
    const expressions = [
      ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
      ...templating.list.flatMap(({ query }) => (typeof query === 'string' ? [] : [query.query])),
      ...alerts.map(({ expr }) => expr),
    ];

    it('has every name and label in their expressions', async () => {
      await metrics();
      const found = [...(await metrics()).keys()];
      ok(expressions.length > 30);
      const used = expressions.flatMap((expression) => [
        ...expression.matchAll(/\b((?:botshelf|nodejs|process)_\w+)(?:\{([^}]*)\})?/g),
      ]);
      const missing = used.filter(([, name = '', labels = '']) => {
        const keys = [...labels.matchAll(/(\w+)(?==)/g)].map(([, key = '']) => key);
        const own = keys.filter((key) => key !== 'job' && key !== 'instance');
        return !found.some(
          (sample) => sample.replace(/\{.*/, '') === name && own.every((key) => sample.includes(`${key}="`)),
        );
      });
      deepStrictEqual(
        missing.map(([text]) => text),
        [],
      );
    });

    it('leads from each alert to what to do', () => {
      strictEqual(new Set(alerts.map(({ alert }) => alert)).size, alerts.length);
      for (const { alert, labels, annotations } of alerts) {
        ok(['warning', 'critical'].includes(labels.severity), alert);
        ok(annotations.summary.length > 20 && annotations.action.length > 40, alert);
      }
    });

    it('is explained, each metric of its own', async () => {
      const text = readPackageFile('docs/metrics.md');
      const names = [...(await metrics()).keys()].map((sample) => sample.replace(/\{.*/, ''));
      const own = names
        .filter((name) => name.startsWith('botshelf_'))
        .map((name) => name.replace(/_(?:bucket|sum|count)$/, ''));
      deepStrictEqual(
        own.filter((name) => !text.includes(`\`${name}\``)),
        [],
      );
    });
  });

  it('tells of commits, and of counts on their way into Git', async () => {
    strictEqual(await post({ category: 'music' }), 200);
    const before = (await metrics()).get('botshelf_journal_writes_total') ?? Number.NaN;
    strictEqual(await post({ count: 156 }), 200);
    const found = await metrics();
    strictEqual(found.get('botshelf_journal_writes_total'), before + 1);
    strictEqual(found.get('botshelf_content_batch_size_count'), 1);
    strictEqual(found.get('botshelf_content_batch_size_sum'), 1);
    ok(found.has('botshelf_counts_waiting'));
    ok(found.has('botshelf_checkpoint_age_seconds'));
  });
});
