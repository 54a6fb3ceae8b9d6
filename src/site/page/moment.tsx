import type { VNode } from 'preact';
import { interfaceLanguage } from './messages.ts';

/** Shows a point in time to the minute, in UTC. @param time milliseconds since the epoch */
export function Moment({ time }: { readonly time: number }): VNode {
  return <time dateTime={new Date(time).toISOString()}>{minutes.format(time)} UTC</time>;
}

const minutes = new Intl.DateTimeFormat(interfaceLanguage, {
  dateStyle: 'long',
  timeStyle: 'short',
  hourCycle: 'h23',
  timeZone: 'UTC',
});
