import { match, ok, strictEqual } from 'node:assert/strict';
import { testRepository, type TestRepository } from './support/repository.ts';
import { mainPage, pagePath } from './support/sample.ts';
import { startTestService, type TestService } from './support/service.ts';
import { issueTestToken } from './support/token.ts';

const homer = '190519304972663312';

describe('/metrics', () => {
  let repo: TestRepository;
  let service: TestService;

  before(async () => {
    repo = testRepository({
      [pagePath(homer)]: mainPage(),
      [pagePath('42')]: mainPage({ name: 'Bart', category: 'nonsense' }),
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
    const answer = await service.request(`/api/v2/bots/${homer}`, {
      method: 'POST',
      headers: { authorization: token, 'content-type': 'application/json' },
      body: JSON.stringify({ bot: body }),
    });
    return answer.status;
  };

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

  it('tells of bots, faulty files and the parts of the service', async () => {
    const found = await metrics();
    strictEqual(found.get('botshelf_bots'), 1);
    strictEqual(found.get('botshelf_faulty_files'), 1);
    strictEqual(found.get('botshelf_part_ready{part="catalogue"}'), 1);
    strictEqual(found.get('botshelf_part_faults{part="state"}'), 0);
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
    ok(found.has('botshelf_fold_age_seconds'));
  });

  it('tells of the process: the event loop, memory', async () => {
    const found = await metrics();
    ok(found.has('nodejs_eventloop_lag_p99_seconds'));
    ok((found.get('process_resident_memory_bytes') ?? 0) > 1_000_000);
  });
});
