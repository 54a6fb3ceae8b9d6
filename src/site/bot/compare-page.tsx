import type { ComponentChildren, VNode } from 'preact';
import { type BotId, parseBotId } from '../../bot/id.ts';
import { type Locale, chooseLocale, directionOf } from '../../bot/locale.ts';
import { alignPermissions, readInvite } from '../../bot/invite.ts';
import type { IndexedBot } from '../../catalogue/store/bot-index.ts';
import { parseQuery } from '../../http/request.ts';
import { readBotTrust, type TrustChange, TrustChangeText } from '../changes/trust.tsx';
import { BotAvatar, BotName, formatNoCount, type ListedBot, toKey, toListed } from '../front/card.tsx';
import { type ListNear, LostPage, type NearBots } from '../front/error-pages.tsx';
import { usePage, type PageParts } from '../page/page-context.tsx';
import { toSourceAddress, toWatchPath } from '../page/addresses.ts';
import { Layout } from '../page/layout.tsx';
import { Fact, toCategoryClass } from '../page/elements.tsx';
import { withoutBidiControls } from '../../lib/text.ts';
import type { AddPage } from '../page/html-response.ts';
import { listLabelRows } from '../page/permissions.tsx';
import { useServerCount, useUsage } from './bot-facts.tsx';

/**
 * Adds the page that shows the bots of the parameter `bots` next to each other. They are named by ids or parts of names.
 */
export function addComparePage(addPage: AddPage, parts: PageParts, listNear: ListNear): void {
  const { site, bots, lists } = parts;
  addPage('/compare', async (ctx) => {
    const params = parseQuery(ctx);
    const texts = params.getAll('bots').flatMap((text) => text.split(',', maxCompared + 1));
    const named = new Set(
      texts.map((text) => text.trim().slice(0, maxIdLength).toWellFormed()).filter(Boolean),
    );
    const wanted = [...named].slice(0, maxCompared);
    const isCut = named.size > maxCompared;
    const find = async (text: string): Promise<IndexedBot | undefined> => {
      const id = parseBotId(text);
      if (id !== undefined) return bots.get(id);
      const found = await lists.page({ q: text, limit: maxSameName }, ctx.ip);
      return found.bots.find(({ facts }) => facts.name.toLowerCase().includes(text.toLowerCase()));
    };
    const all = await Promise.all(wanted.map(find));
    const missing = wanted.filter((_, i) => all[i] === undefined);
    const found = [...new Set(all)].filter((bot) => bot !== undefined);
    const ranges = site.languages.of(ctx).wanted;
    const shown = found.map((bot) => {
      return { bot, locale: chooseLocale(bot.facts.locales, ranges) as Locale };
    });
    const near = found.length === 0 ? await listNear(ctx) : undefined;
    const shownNear = near?.bots.map(({ bot, locale }) => [bot.id, locale]);
    return {
      key: { compared: shown.map(toKey), missing, isCut, near: shownNear },
      render: async () => {
        const columns = toListed(parts, shown).map(async (column): Promise<Column> => {
          const { changes } = await readBotTrust(parts, column.bot.id as BotId, column.locale);
          return { ...column, trustChanges: changes };
        });
        return <ComparePage {...{ missing, isCut, near }} columns={await Promise.all(columns)} />;
      },
    };
  });
}

const maxCompared = 4;
/** Maximum number of bots of the same name that a search may find. */
const maxSameName = 10;
const maxIdLength = 60;

/** The column of a bot in the table. */
interface Column extends ListedBot {
  readonly trustChanges: readonly TrustChange[];
}

interface ComparePageProps {
  readonly columns: readonly Column[];
  /** The names in the address that match no bot. */
  readonly missing: readonly string[];
  /** Whether the address names more bots than can be compared. */
  readonly isCut: boolean;
  /** Bots to compare instead, if no bot is found. */
  readonly near: NearBots | undefined;
}

function ComparePage({ columns, missing, isCut, near }: ComparePageProps): VNode {
  const { t, text, href } = usePage();
  const count = columns.length;
  const title = count < 2 ? text('compare.title') : text('compare.heading', { count });
  const head = (
    <>
      <h1 id="compare">{title}</h1>
      <p>{t(count < 2 ? 'compare.number' : 'compare.order')}</p>
    </>
  );
  const notices = (
    <>
      {missing.length > 0 && <p class="notice">{t('compare.missing', { ids: missing.join(', ') })}</p>}
      {isCut && <p class="notice">{t('compare.tooMany', { max: maxCompared })}</p>}
    </>
  );
  if (near) return <LostPage {...{ title, head, near }} canBeTicked children={notices} />;
  return (
    <Layout {...{ title, head }} isUnlisted>
      <div class="stack">
        {notices}
        <div class="compare" role="region" aria-labelledby="compare" tabIndex={0}>
          <Comparison columns={columns} />
        </div>
        {count < maxCompared && <AnotherBot columns={columns} />}
        <p>
          <a rel="nofollow" href={href(toWatchPath(columns.map(({ bot }) => bot.id)))}>
            {t('watch.short')}
          </a>
        </p>
      </div>
    </Layout>
  );
}

/** Adds a bot to the comparison by its name. */
function AnotherBot({ columns }: Pick<ComparePageProps, 'columns'>): VNode {
  const { t, href } = usePage();
  return (
    <form class="narrow" action={href('/compare')}>
      {columns.map(({ bot: { id } }) => (
        <input key={id} type="hidden" name="bots" value={id} />
      ))}
      <label for="another">{t('compare.another')}</label>
      <div class="search">
        <input id="another" type="search" name="bots" maxLength={maxIdLength} required />
        <button type="submit">{t('compare.short')}</button>
      </div>
    </form>
  );
}

/** A bot's cell in a row of the table. */
interface Cell {
  /** Equal for bots with the same content in the row; empty if unknown. */
  readonly value: unknown;
  readonly content: ComponentChildren;
  readonly isAlarm?: boolean;
}

interface ComparedRow {
  readonly name: ComponentChildren;
  readonly cells: readonly Cell[];
}

/** The rows that differ between bots; those that are the same for all are folded below. */
function Comparison({ columns }: Pick<ComparePageProps, 'columns'>): VNode {
  const { t } = usePage();
  const { facts, harm, permissions } = useRows(columns);
  const same = [...facts, ...permissions].filter((row) => !differs(row));
  return (
    <>
      {/* Sets the roles, which are lost if a small screen shows the rows as grids. */}
      <table role="table">
        <colgroup>
          <col />
          <col span={columns.length} />
        </colgroup>
        <Head columns={columns} />
        <Rows title={t('compare.differs')} rows={facts.filter(differs)} />
        <Rows title={t('permissions.harmful')} rows={harm.filter(differs)} />
        <Rows title={t('compare.permissions')} rows={permissions.filter(differs)} />
      </table>
      {same.length > 0 && (
        <details>
          <summary>{t('compare.same', { count: same.length })}</summary>
          <dl class="pairs">
            {same.map(({ name, cells }, i) => (
              <Fact key={i} name={name}>
                {cells[0]?.content}
              </Fact>
            ))}
          </dl>
        </details>
      )}
    </>
  );
}

function differs({ cells }: ComparedRow): boolean {
  return cells.length === 1 || cells.some(({ value }) => value !== cells[0]?.value);
}

function Head({ columns }: Pick<ComparePageProps, 'columns'>): VNode {
  const { t } = usePage();
  return (
    <thead role="rowgroup">
      <tr role="row">
        <td role="cell" />
        {columns.map(({ bot, locale }) => {
          const name = withoutBidiControls(bot.contents[locale]?.name ?? '');
          return (
            <th key={bot.id} class={toCategoryClass(bot.category)} scope="col" role="columnheader">
              <BotAvatar {...{ bot, name }} size={64} />
              <span>
                <BotName {...{ bot, locale }} />
              </span>
            </th>
          );
        })}
      </tr>
      <tr role="row">
        <td role="cell" />
        {columns.map(({ bot, locale }) => (
          <td key={bot.id} role="cell">
            <p class="about" lang={locale} dir={directionOf(locale)}>
              {withoutBidiControls(bot.contents[locale]?.description ?? '')}
            </p>
            <a class="button" href={bot.invite} rel="nofollow ugc noopener">
              {t('bot.invite')}
            </a>
          </td>
        ))}
      </tr>
    </thead>
  );
}

interface RowsProps {
  readonly title: ComponentChildren;
  readonly rows: readonly ComparedRow[];
}

function Rows({ title, rows }: RowsProps): VNode | null {
  if (rows.length === 0) return null;
  return (
    <tbody role="rowgroup">
      <tr role="row">
        <th scope="rowgroup" role="rowheader" colSpan={1 + (rows[0]?.cells.length ?? 0)}>
          {title}
        </th>
      </tr>
      {rows.map(({ name, cells }, i) => (
        <tr key={i} role="row">
          <th scope="row" role="rowheader">
            {name}
          </th>
          {cells.map(({ content, isAlarm }, place) => (
            <td key={place} role="cell" class={isAlarm === true ? 'alarm' : undefined}>
              {content}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  );
}

/** The rows of the table: about bots, about the harm that they can do, and one for each permission but Administrator. */
type TableRows = Readonly<Record<'facts' | 'harm' | 'permissions', readonly ComparedRow[]>>;

/** Returns the rows; a fact that is unknown for all bots is left out. Only for components. */
function useRows(columns: readonly Column[]): TableRows {
  const context = usePage();
  const { t, text, day, list, categoryName, languageName } = context;
  const locales = columns.flatMap(({ bot }) => Object.keys(bot.contents));
  const notStated: Cell = { value: '', content: <span class="muted">{t('compare.notStated')}</span> };
  const toMark = (value: boolean): Cell => ({
    value,
    content: (
      <>
        <span aria-hidden="true">{value ? '✓' : '–'}</span>
        <span class="out-of-sight">{t(value ? 'compare.yes' : 'compare.no')}</span>
      </>
    ),
  });
  const row = (name: ComponentChildren, toCell: (column: Column, i: number) => Cell): ComparedRow => ({
    name,
    cells: columns.map(toCell),
  });
  const facts = [
    row(t('permission.administrator'), ({ bot }) => {
      if (!isStated(bot.invite)) return notStated;
      if (readInvite(bot.invite)?.fullControl !== true) return toMark(false);
      return { value: true, content: <span class="warning">{t('card.fullControl')}</span>, isAlarm: true };
    }),
    row(t('bot.serverCount'), (column) => ({ value: column.count ?? '', content: useServerCount(column) })),
    row(t('bot.lastReport'), ({ reportedAt }) => {
      const content = formatNoCount(reportedAt && Date.now() - reportedAt, context);
      return { value: content === false ? '' : reportedAt, content };
    }),
    row(t('bot.category'), ({ bot }) => toTextCell(categoryName(bot.category))),
    row(t('card.openSource'), ({ bot }) => toMark(toSourceAddress(bot.codehost) !== null)),
    row(t('bot.language'), ({ bot }) =>
      toTextCell(list.format(Object.keys(bot.contents).map((locale) => languageName(locale, locales)))),
    ),
    row(t('bot.howToUse'), ({ bot, locale }) => {
      const content = useUsage({ bot, locale });
      const hasCommands = readInvite(bot.invite)?.commands;
      return { value: content === null ? '' : JSON.stringify([bot.trigger, hasCommands]), content };
    }),
    row(t('changes.lately'), ({ trustChanges }) => ({
      value: trustChanges.map(({ kind, since }) => kind + since).join(),
      content: trustChanges.map((change) => (
        <p key={change.kind + change.since}>
          <TrustChangeText change={change} />
        </p>
      )),
    })),
    row(t('bot.created'), ({ bot }) => toTextCell(day(bot.created))),
  ];
  const labels = columns.map(({ bot }) => listLabelRows(bot.invite, text));
  const harm = (['members', 'server', 'messages'] as const).map((subject) =>
    row(t(`permissions.to.${subject}`), (_, i) => {
      const rows = labels[i] ?? [];
      const [only] = rows;
      if (only?.word === 'compare.notStated') return notStated;
      if (only?.word === 'permissions.everything')
        return { value: 'all', content: <span class="harm">{t('compare.all')}</span> };
      const harmful = rows.find(({ word }) => word === `permissions.${subject}`)?.harmful ?? [];
      if (harmful.length === 0) return toTextCell(text('permissions.none'));
      return { value: harmful.join(), content: <span class="harm">{harmful.join(', ')}</span> };
    }),
  );
  const permissions = alignPermissions(columns.map(({ bot }) => bot.invite))
    .filter(({ name }) => name !== 'administrator')
    .map(({ name, asked }) =>
      row(t(`permission.${name}`), ({ bot }, i) =>
        asked[i] || isStated(bot.invite) ? toMark(asked[i] === true) : notStated,
      ),
    );
  return {
    facts: facts.filter(({ cells }) => cells.some(({ value }) => value !== '')),
    harm,
    permissions,
  };
}

/** Whether an invite link states its permissions, or needs none because it only adds commands. */
function isStated(invite: string): boolean {
  const { joins, permissions } = readInvite(invite) ?? {};
  return joins === false || typeof permissions === 'object';
}

function toTextCell(content: string): Cell {
  return { value: content, content };
}
