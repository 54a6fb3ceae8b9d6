import type { RenderableProps, VNode } from 'preact';
import type { MessageKey } from '../language/message-file.ts';
import { useLanguage } from '../language/page-language.tsx';
import { Layout, type PageProps } from './layout.tsx';
import { ActionLink } from './links.tsx';

export interface MessagePageProps extends PageProps {
  readonly title: MessageKey;
  /** The address and the text of the way on. */
  readonly to: string;
  readonly action: MessageKey;
}

/** A page that says one thing, and leads on. */
export function MessagePage(props: RenderableProps<MessagePageProps>): VNode {
  const { site, viewer, title, to, action, children } = props;
  const { t, text } = useLanguage();
  return (
    <Layout site={site} viewer={viewer} title={text(title)} isUnlisted>
      <div class="narrow stack">
        <h1>{t(title)}</h1>
        {children}
        <ActionLink href={to}>{t(action)}</ActionLink>
      </div>
    </Layout>
  );
}
