import type { VNode } from 'preact';
import type { BotId } from '../../bot/id.ts';
import type { Fault } from '../../catalogue/page/fault.ts';
import { Layout, type Site } from './layout.tsx';
import { messages } from './messages.ts';

/** The faults of a bot's files, for their editor. */
export function Faults({
  faults,
  advice,
}: {
  readonly faults: readonly Fault[];
  readonly advice: string;
}): VNode {
  return (
    <section class="notice bad" dir="ltr" role="alert" aria-labelledby="faults">
      <h2 id="faults">{messages.faultsTitle}</h2>
      <p>{advice}</p>
      <ul>
        {faults.map(({ path, line, column, message }) => (
          <li key={`${path}:${line}:${column}:${message}`}>
            <code>
              {path}:{line}:{column}
            </code>{' '}
            {message}
          </li>
        ))}
      </ul>
    </section>
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
        <Faults faults={faults} advice={messages.faultsBlocking} />
      </div>
    </Layout>
  );
}
