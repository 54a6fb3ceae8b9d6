import { type LoadRequest, manyConnections, send } from './load.ts';
import { residentMegabytes, startWholeService } from './processes.ts';
import { atMost, megabytes, type Row } from './rows.ts';
import type { Stage, StageBot } from './stage.ts';

/** The memory of a service whose pages are requested at every address and in many languages: it levels off. */
export async function* memory(stage: Stage): AsyncGenerator<Row> {
  await using service = await startWholeService(stage);
  const start = performance.now();
  let sent = 0;
  const work = async (end: number): Promise<void> => {
    while (performance.now() < end)
      await send(service.address, toRequest(stage.bots, sent++), manyConnections);
  };
  const measured = [residentMegabytes(service)];
  for (let minute = 1; minute <= minutes; minute++) {
    const end = start + minute * 60_000;
    await Promise.all(Array.from({ length: connections }, async () => await work(end)));
    measured.push(residentMegabytes(service));
  }
  const [first = 0, last = 0] = [measured.at(0), measured.at(-1)];
  const before = Math.max(...measured.slice(0, -minutes / 3));
  const grown = Math.max(...measured.slice(-minutes / 3)) - before;
  const goal = `memory under pages of every address, growth from minute ${(minutes * 2) / 3} to ${minutes}`;
  const row = atMost(goal, grown, before / 20, megabytes);
  yield { ...row, measured: `${row.measured}; ${megabytes(last)} from ${megabytes(first)}, ${sent} pages` };
}

const minutes = Number(process.env['MINUTES'] ?? 15);
const connections = 8;

/** Returns the request of a number: all bots, then all in the next language. */
function toRequest(bots: readonly StageBot[], number: number): LoadRequest {
  const { id } = bots[number % bots.length] as StageBot;
  const paths = [`/bots/${id}`, `/bots/${id}/changes`, `/api/v2/bots/${id}`, `/?q=${id}`];
  const language = languages[Math.floor(number / bots.length) % languages.length] ?? '';
  const headers = {
    Accept: 'text/html,*/*;q=0.8',
    'Accept-Language': language,
    'Accept-Encoding': 'gzip, br',
  };
  return {
    method: 'GET',
    path: paths[(number + Math.floor(number / bots.length)) % paths.length] ?? '',
    headers,
  };
}

const languages = ['en-GB,en', 'de', 'fr', 'es', 'ja', 'ru', 'pt-BR', 'zh-CN', 'tr', 'ko', 'pl', 'it'];
