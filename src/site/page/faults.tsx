import type { VNode } from 'preact';
import type { BotId } from '../../bot/id.ts';
import type { Fault } from '../../catalogue/page/fault.ts';
import type { MessageKey } from '../language/messages.tsx';
import { useLanguage } from '../language/page-language.tsx';
import { Layout, type Site } from './layout.tsx';

/** The faults of a bot's files, for their editor. */
export function Faults({
  faults,
  advice,
}: {
  readonly faults: readonly Fault[];
  readonly advice: MessageKey;
}): VNode {
  const { t } = useLanguage();
  return (
    <section class="notice bad" role="alert" aria-labelledby="faults">
      <h2 id="faults">{t('bot.faults')}</h2>
      <p>{t(advice)}</p>
      <FaultItems faults={faults} />
    </section>
  );
}

/** Where each fault is, and what it is. */
export function FaultItems({ faults }: { readonly faults: readonly Fault[] }): VNode {
  return (
    <ul lang="en" dir="ltr">
      {faults.map(({ path, line, column, message }) => (
        <li key={`${path}:${line}:${column}:${message}`}>
          <code>
            {path}:{line}:{column}
          </code>{' '}
          {message}
        </li>
      ))}
    </ul>
  );
}

/** The page of a bot whose files have never been valid, for their editor. */
export function FaultyBotPage(props: {
  readonly site: Site;
  readonly id: BotId;
  readonly faults: readonly Fault[];
}): VNode {
  const { site, id, faults } = props;
  return (
    <Layout site={site} viewer={null} title={id}>
      <div class="stack">
        <h1>{id}</h1>
        <Faults faults={faults} advice="bot.neverValid" />
      </div>
    </Layout>
  );
}
