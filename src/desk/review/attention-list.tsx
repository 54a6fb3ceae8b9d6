import type { VNode } from 'preact';
import type { BotId } from '../../bot/id.ts';
import type { BotIndex } from '../../catalogue/store/bot-index.ts';
import { usePage } from '../../site/page/page-context.tsx';
import { NameLink } from '../../site/page/elements.tsx';
import { type Attention, type AttentionItem, toMessageValues } from '../../site/discover/attention.ts';

/** The listings that need attention, by kind, each with a link to the form that fixes it. Long lists are folded. */
export function AttentionList(props: { readonly attention: Attention; readonly bots: BotNames }): VNode {
  const { attention, bots } = props;
  const { t, integer } = usePage();
  const groups = attention.groups.filter(({ total }) => total > 0);
  return (
    <div class="attention stack">
      {!attention.isComplete && <p class="notice">{t('attention.incomplete')}</p>}
      {groups.length === 0 && <p>{t('attention.none')}</p>}
      {groups.map(({ kind, total, items }) => (
        <details key={kind} class="panel" open={total <= maxOpenItems}>
          <summary>
            <h2>
              {t(`attention.${kind}.title`)} <span class="muted">{integer(total)}</span>
            </h2>
          </summary>
          {total > items.length && <p>{t('attention.more', { shown: items.length, total })}</p>}
          <ul>
            {items.map((item, i) => (
              <Item key={i} {...{ item, bots }} />
            ))}
          </ul>
        </details>
      ))}
    </div>
  );
}

const maxOpenItems = 10;

type BotNames = Pick<BotIndex, 'get'>;

function Item({ item, bots }: { readonly item: AttentionItem; readonly bots: BotNames }): VNode {
  const { t, href } = usePage();
  const { bot, name, fixPath } = item;
  return (
    <li>
      {name !== null && <NameLink path={`/bots/${bot}`} name={name} />} <AttentionText {...{ item, bots }} />{' '}
      {fixPath !== null && <a href={href(fixPath)}>{t('bot.edit')}</a>}
    </li>
  );
}

/** Describes a problem, with the failed address and its message. @param props.bots for the names of other bots */
export function AttentionText(props: { readonly item: AttentionItem; readonly bots?: BotNames }): VNode {
  const { item, bots } = props;
  const { t, text, day } = usePage();
  const { url, message, others = '' } = item.values;
  const link = (
    <a dir="ltr" href={String(url)}>
      {url}
    </a>
  );
  const named = String(others)
    .split(', ')
    .map((id, i) => [
      i > 0 && ', ',
      <NameLink key={id} path={`/bots/${id}`} name={bots?.get(id as BotId)?.facts.name ?? id} />,
    ]);
  return (
    <>
      {t(`attention.${item.kind}.text`, {
        ...toMessageValues(item, { text, day }),
        url: link,
        others: <>{named}</>,
      })}{' '}
      {message !== undefined && (
        <span class="muted" lang="en" dir="ltr">
          {message}
        </span>
      )}
    </>
  );
}
