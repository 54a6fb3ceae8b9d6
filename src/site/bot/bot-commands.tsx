import type { VNode } from 'preact';
import type { BotListElement, Command, CommandNames, CommandOption } from '../../../schemas/types.ts';
import { type Locale, chooseLocale, findLanguages } from '../../bot/locale.ts';
import { maxQueryLength } from '../../catalogue/lists/parameters.ts';
import { type IndexedBot, parseListElement, findKnownBot } from '../../catalogue/store/bot-index.ts';
import { ProblemError } from '../../http/problem.ts';
import { parseQuery } from '../../http/request.ts';
import { withoutBidiControls } from '../../lib/text.ts';
import { Ledge } from '../front/card.tsx';
import { withParameter } from '../page/addresses.ts';
import { Breadcrumb } from '../page/elements.tsx';
import type { AddPage } from '../page/html-response.ts';
import { Layout, SearchForm, PageLinks, pickPage } from '../page/layout.tsx';
import { type PageParts, usePage } from '../page/page-context.tsx';

/** A command as it is used: each subcommand is one. */
export interface Usage {
  /** The text to type, or the entry of a menu. */
  readonly name: string;
  /** The options in brackets, unless they are required. */
  readonly options: readonly string[];
  readonly description: string;
  /** Whether the description is in the reader's language. */
  readonly isTranslated: boolean;
  readonly isAdult: boolean;
}

/** Returns the commands of a bot in the language of the reader. */
export function listUsages({ commands }: Pick<IndexedBot, 'commands'>, locale: Locale): Usage[] {
  const all = JSON.parse(String(commands ?? '[]')) as Command[];
  return all.flatMap((command) => {
    const list = (described: Command | CommandOption, before: string): Usage[] => {
      const name = before + localizeName(described, locale);
      const options = described.options ?? [];
      const inner = options.filter(({ type }) => type === subcommand || type === group);
      if (inner.length > 0) return inner.flatMap((option) => list(option, `${name} `));
      const own = findLocalized(described.description_localizations, locale);
      return [
        {
          name,
          options: options.map((option) => formatOption(option, locale)),
          description: withoutBidiControls(own ?? described.description ?? ''),
          isTranslated: own !== undefined,
          isAdult: command.nsfw ?? false,
        },
      ];
    };
    // The other types are entries of menus.
    return list(command, (command.type ?? typed) === typed ? '/' : '');
  });
}

/** Numbers of types of commands, and of options, in Discord's API. */
const typed = 1;
const [subcommand, group] = [1, 2];

function formatOption(option: CommandOption, locale: Locale): string {
  const name = localizeName(option, locale);
  return option.required ? name : `[${name}]`;
}

function localizeName({ name, name_localizations }: Command | CommandOption, locale: Locale): string {
  return withoutBidiControls(findLocalized(name_localizations, locale) ?? name);
}

/** Returns the text in the language nearest to the reader's; undefined without texts. */
function findLocalized(texts: CommandNames | null = {}, locale: Locale): string | undefined {
  const [nearest = ''] = findLanguages([locale], Object.keys(texts ?? {}) as Locale[]);
  return texts?.[nearest];
}

/** Returns the path of the page with all commands of a bot. */
export function toCommandsPath(id: string): string {
  return `/bots/${id}/commands`;
}

/** The first commands of a bot, with a link to all of them. */
export function BotCommands(props: { readonly id: string; readonly usages: readonly Usage[] }): VNode | null {
  const { id, usages } = props;
  const { t, href } = usePage();
  const { length: count } = usages;
  if (count === 0) return null;
  return (
    <section aria-labelledby="commands">
      <div class="shelf-head">
        <h2 id="commands">{t('bot.commands')}</h2>
        {count > shownCommands && <a href={href(toCommandsPath(id))}>{t('bot.allCommands', { count })}</a>}
      </div>
      <ul class="commands-list" lang="">
        {usages.slice(0, shownCommands).map((usage) => (
          <li key={usage.name}>
            <UsageCode {...usage} />
            <UsageText {...usage} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The number of commands on the page of a bot. */
const shownCommands = 8;

function UsageCode({ name, options }: Usage): VNode {
  return (
    <code dir="auto">
      <b>{name}</b>
      {options.map((option) => ` ${option}`)}
    </code>
  );
}

function UsageText({ description, isTranslated, isAdult }: Usage): VNode {
  const { t, locale } = usePage();
  return (
    <span dir="auto" lang={isTranslated ? locale : undefined}>
      {isAdult && <span class="tag adult">{t('bot.adult')}</span>} {description}
    </span>
  );
}

/** Adds the page with all commands of a bot, which the parameter `q` searches. */
export function addCommandsPage(addPage: AddPage, { site, bots }: PageParts): void {
  addPage(toCommandsPath(':id'), (ctx) => {
    const indexed = findKnownBot(bots, ctx.params['id'] ?? '');
    const { id, facts } = indexed;
    if (indexed.commands === null) throw new ProblemError('not-found', `no commands of ${id} are known`);
    const { locale: own, wanted } = site.languages.of(ctx);
    const query = parseQuery(ctx);
    const q = (query.get('q') ?? '').slice(0, maxQueryLength).toWellFormed().trim();
    const locale = chooseLocale(facts.locales, wanted) as Locale;
    return {
      key: { commands: id, q, page: query.get('page'), locale },
      entry: () => bots.get(id),
      render: async () => {
        const usages = listUsages(indexed, own);
        const found = usages.filter((usage) => matches(usage, q));
        const shown = { ...pickPage(ctx, found), count: usages.length };
        return <CommandsPage {...{ ...shown, bot: parseListElement(indexed), locale, q }} />;
      },
    };
  });
}

/** Whether a command has all words of a search. */
function matches({ name, options, description }: Usage, q: string): boolean {
  const text = [name, ...options, description].join(' ').toLowerCase();
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

interface CommandsPageProps extends ReturnType<typeof pickPage<Usage>> {
  readonly bot: BotListElement;
  /** The language in which the bot is named. */
  readonly locale: Locale;
  readonly q: string;
  /** The number of all commands. */
  readonly count: number;
}

function CommandsPage({ bot, locale, q, count, shown, page, pages }: CommandsPageProps): VNode {
  const { t, text, href } = usePage();
  const { id, category } = bot;
  const name = withoutBidiControls(bot.contents[locale]?.name ?? '');
  const own = toCommandsPath(id);
  const path = q === '' ? own : withParameter(own, 'q', q);
  return (
    <Layout
      title={`${text('bot.commands')} · ${name}`}
      isUnlisted
      category={category}
      head={
        <>
          <Breadcrumb category={category} bot={{ path: `/bots/${id}`, name }} />
          <h1 id="commands">{t('bot.commands')}</h1>
          <p>{t('bot.commandCount', { count })}</p>
        </>
      }
      beside={<Ledge bots={[bot]} size={72} />}
    >
      <SearchForm q={q} inPage={{ path: own, label: 'bot.findCommand' }} />
      {shown.length === 0 ? (
        <p>{t('bot.noCommand', { q })}</p>
      ) : (
        <table class="rows" aria-labelledby="commands">
          <thead>
            <tr>
              <th scope="col">{t('bot.command')}</th>
              <th scope="col">{t('bot.what')}</th>
            </tr>
          </thead>
          <tbody lang="">
            {shown.map((usage) => (
              <tr key={usage.name}>
                <td class="stay">
                  <UsageCode {...usage} />
                </td>
                <td>
                  <UsageText {...usage} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <PageLinks
        {...{ page, pages }}
        pathOf={(number) => href(withParameter(path, 'page', String(number)))}
      />
    </Layout>
  );
}
