import { alternate, rates } from './comparison.ts';
import { type LoadResult, sendLoad } from './load.ts';
import { getBot, postCount } from './request.ts';
import { perSecond, type Row } from './row.ts';
import { startWholeService } from './service.ts';
import type { Stage } from './stage.ts';
import { median, medianRatio } from './statistics.ts';

/** Reads while a thousand counts a second are posted, against reads alone. */
export async function* readsBesidePosts(stage: Stage): AsyncGenerator<Row> {
  await using service = await startWholeService(stage);
  const { address } = service;
  const bots = stage.bots.slice(0, 1000);
  const gets = bots.map((bot) => getBot(bot));
  const posts = bots.map(postCount);
  const postRates: number[] = [];
  const read = async (seconds: number): Promise<LoadResult> =>
    await sendLoad({ address, connections: 32, seconds, requests: gets });
  const readBeside = async (seconds: number): Promise<LoadResult> => {
    const [reading, posting] = await Promise.all([
      read(seconds),
      sendLoad({ address, connections: 16, seconds, requests: posts, rate: postsASecond }),
    ]);
    postRates.push(posting.rate);
    return reading;
  };
  const results = await alternate({ alone: read, beside: readBeside });
  const ratio = medianRatio(rates(results.beside), rates(results.alone));
  const posted = median(postRates);
  yield {
    name: `reads beside ${perSecond(posted)} posts`,
    measured: perSecond(median(rates(results.beside))),
    peer: `alone ${perSecond(median(rates(results.alone)))}`,
    ratio,
    goal: `≥ 0.8 × alone, ${perSecond(postsASecond)} posts`,
    met: ratio >= 0.8 && posted >= postsASecond * 0.95,
  };
}

const postsASecond = 1000;
