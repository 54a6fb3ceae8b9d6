import type { VNode } from 'preact';
import { Card, type CardProps } from './card.tsx';

/** A bot of a list, ready to be shown. */
export type ListedBot = Omit<CardProps, 'today' | 'heading' | 'lazy'>;

export interface CardsProps {
  readonly bots: readonly ListedBot[];
  /** When the day began, in milliseconds since the epoch. */
  readonly today: number;
  /** The level of their headings. */
  readonly heading: CardProps['heading'];
  /** How many of them a large screen shows without scrolling. */
  readonly atOnce: number;
}

/** A list of bots as cards. */
export function Cards({ bots, today, heading, atOnce }: CardsProps): VNode {
  return (
    <ul class="cards">
      {bots.map((bot, i) => (
        <Card key={bot.bot.id} {...bot} today={today} heading={heading} lazy={i >= atOnce} />
      ))}
    </ul>
  );
}
