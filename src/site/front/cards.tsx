import type { VNode } from 'preact';
import { Card, type CardProps } from './card.tsx';

/** A bot of a list, ready to be shown. */
export type ListedBot = Omit<CardProps, 'saysAge' | 'heading' | 'lazy'>;

export interface CardsProps {
  readonly bots: readonly ListedBot[];
  /** The level of their headings. */
  readonly heading: CardProps['heading'];
  /** How many of them a large screen shows without scrolling. */
  readonly atOnce: number;
}

/** A list of bots as cards. */
export function Cards({ bots, heading, atOnce }: CardsProps): VNode {
  return (
    <ul class="cards">
      {bots.map((bot, i) => (
        <Card key={bot.bot.id} {...bot} saysAge heading={heading} lazy={i >= atOnce} />
      ))}
    </ul>
  );
}
