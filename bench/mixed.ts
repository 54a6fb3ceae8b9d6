import { postsBesideCheckpoint } from './posts-beside-checkpoint.ts';
import { readsBesidePosts } from './reads-beside-posts.ts';
import type { Row } from './row.ts';
import type { Stage } from './stage.ts';

/** What goes on at the same time: reads beside posts, posts beside a checkpoint of counts. */
export async function* mixed(stage: Stage): AsyncGenerator<Row> {
  yield* readsBesidePosts(stage);
  yield* postsBesideCheckpoint(stage);
}
