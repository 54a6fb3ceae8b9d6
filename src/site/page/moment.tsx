import type { VNode } from 'preact';
import { useLanguage } from '../language/page-language.tsx';

/** Shows a point in time to the minute, in UTC. @param time milliseconds since the epoch */
export function Moment({ time }: { readonly time: number }): VNode {
  const { minute } = useLanguage();
  return <time dateTime={new Date(time).toISOString()}>{minute(time)}</time>;
}
