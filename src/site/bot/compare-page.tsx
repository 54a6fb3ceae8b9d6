import type { Context } from 'koa';
import type { ComponentChildren, VNode } from 'preact';
import { parseBotId } from '../../bot/id.ts';
import type { Locale } from '../../bot/locale.ts';
import { alignPermissions, readInvite } from '../../bot/invite.ts';
import type { TrustChange } from '../../catalogue/changes/bot-changes.ts';
import { parseListElement } from '../../catalogue/store/bot-index.ts';
import { parseQuery } from '../../http/request.ts';
import { readNamedTrustChanges, TrustChangeText } from '../changes/changed-fields.tsx';
import { type ListedBot, useNoCount } from '../front/card.tsx';
import { chooseLocale, listWantedRanges, withLocale } from '../language/locales.ts';
import { useLanguage } from '../language/page-language.tsx';
import { toComparePath } from '../page/addresses.ts';
import { AllBotsLink } from '../page/message-pages.tsx';
import { Layout, type PageProps } from '../page/layout.tsx';
import { NameLink } from '../page/elements.tsx';
import type { PageRecipe } from '../page/html-response.ts';
import type { SiteParts } from '../page/site-parts.ts';
import { useServerCount, useSource, useUsage } from './bot-panels.tsx';

/** Returns how the page is made that has the bots of the parameter `bots` side by side. */
export function createCompareRecipe(
  ctx: Context,
  { bots, counts, changes, authors }: Pick<SiteParts, 'bots' | 'counts' | 'changes' | 'authors'>,
): PageRecipe {
  const params = parseQuery(ctx);
  const texts = params.getAll('bots').flatMap((text) => text.split(',', maxCompared + 1));
  const named = new Set(
    texts.map((text) => text.trim().slice(0, maxIdLength).toWellFormed()).filter(Boolean),
  );
  const wanted = [...named].slice(0, maxCompared);
  const ids = wanted.flatMap((text) => parseBotId(text) ?? []);
  const found = ids.flatMap((id) => bots.get(id) ?? []);
  const missing = wanted.filter((text) => !found.some(({ id }) => id === text));
  const ranges = listWantedRanges(params.get('locale') ?? undefined, ctx.get('Accept-Language'));
  const locales = found.map(({ facts }) => chooseLocale(facts.locales, ranges) as Locale);
  return {
    key: { compared: wanted, locales },
    render: async (props) => {
      const columns = found.map(async ({ id, ...indexed }, i): Promise<Column> => {
        const bot = parseListElement(indexed);
        const locale = locales[i] as Locale;
        const [count, growth, reportedAt] = [counts.count(id), counts.growth(id), counts.reportedAt(id)];
        const trustChanges = await readNamedTrustChanges({ changes, authors }, id);
        return { bot, locale, count, growth, reportedAt, trustChanges };
      });
      return <ComparePage {...{ ...props, missing }} columns={await Promise.all(columns)} />;
    },
  };
}

const maxCompared = 4;
const maxIdLength = 60;

/** A bot, in a column of the table. */
interface Column extends Omit<ListedBot, 'namesLanguage'> {
  readonly trustChanges: readonly TrustChange[];
}

interface ComparePageProps extends PageProps {
  readonly columns: readonly Column[];
  /** What the address names that is no bot of the list. */
  readonly missing: readonly string[];
}

function ComparePage({ site, viewer, columns, missing }: ComparePageProps): VNode {
  const { t, text } = useLanguage();
  const path = toComparePath([...columns.map(({ bot }) => bot.id), ...missing]);
  const title = text('compare.title');
  return (
    <Layout {...{ site, viewer, title }} pathIn={(locale) => withLocale(path, locale)} isUnlisted>
      <div class="stack">
        <h1 id="compare">{title}</h1>
        <p class="muted">{t('compare.number')}</p>
        {missing.length > 0 && <p class="notice">{t('compare.missing', { ids: missing.join(', ') })}</p>}
        {columns.length > 0 && (
          <div class="compare" role="region" aria-labelledby="compare" tabIndex={0}>
            <Table columns={columns} />
          </div>
        )}
        <AllBotsLink />
      </div>
    </Layout>
  );
}

function Table({ columns }: Pick<ComparePageProps, 'columns'>): VNode {
  const { t, ago, day, categoryName, languageName } = useLanguage();
  const now = Date.now();
  const invites = columns.map(({ bot }) => bot.invite);
  const isStated = invites
    .map(readInvite)
    .map((read) => read && (!read.joins || typeof read.permissions === 'object'));
  const canDiffer = columns.length > 1 && isStated.every(Boolean);
  const row = (name: ComponentChildren, toCell: (column: Column, i: number) => ComponentChildren): VNode => (
    <tr>
      <th scope="row">{name}</th>
      {columns.map((column, i) => (
        <td key={column.bot.id}>{toCell(column, i)}</td>
      ))}
    </tr>
  );
  return (
    <table>
      <thead>
        <tr>
          <td />
          {columns.map(({ bot, locale }) => (
            <th key={bot.id} scope="col">
              <NameLink path={`/bots/${bot.id}`} name={bot.contents[locale]?.name ?? ''} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {row(t('bot.category'), ({ bot }) => categoryName(bot.category))}
        {row(t('bot.serverCount'), useServerCount)}
        {row(
          t('bot.lastReport'),
          ({ reportedAt }) => reportedAt && (useNoCount(now - reportedAt) || ago(reportedAt, now)),
        )}
        {row(t('bot.howToUse'), useUsage)}
        {row(t('bot.language'), ({ bot }) => Object.keys(bot.contents).map(languageName).join(', '))}
        {row(t('bot.source'), ({ bot }) => useSource(bot))}
        {row(t('bot.created'), ({ bot }) => day(bot.created))}
        {row(t('changes.lately'), ({ trustChanges }) =>
          trustChanges.map((change) => (
            <p key={change.kind + change.since}>
              <TrustChangeText change={change} />
            </p>
          )),
        )}
      </tbody>
      {alignPermissions(invites).map((group) => (
        <tbody key={group.name}>
          <tr>
            <th scope="rowgroup" colSpan={columns.length + 1}>
              {t(`permissions.${group.name}`)}
            </th>
          </tr>
          {group.permissions.map(({ name, asked }) => {
            const isOnly = canDiffer && asked.filter(Boolean).length === 1;
            return row(t(`permission.${name}`), (_column, i) => {
              if (!asked[i]) return t(isStated[i] ? 'compare.no' : 'compare.notStated');
              return isOnly ? <strong>{t('compare.only')}</strong> : t('compare.yes');
            });
          })}
        </tbody>
      ))}
    </table>
  );
}
