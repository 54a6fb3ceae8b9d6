import type { VNode } from 'preact';
import type { Command, CommandNames, CommandOption } from '../../../schemas/types.ts';
import { type Locale, findLanguages } from '../../bot/locale.ts';
import { useLanguage } from '../page/page-context.tsx';
import { withoutBidiControls } from '../page/elements.tsx';

/** A command as it is used: each subcommand is one. */
interface Usage {
  /** The text to type, or the entry of a menu. */
  readonly name: string;
  readonly options: readonly CommandOption[];
  readonly described: Command | CommandOption;
  readonly isAdult: boolean;
}

/** The commands of a bot, folded, in the language of the reader. A script filters them by words. */
export function BotCommands(props: {
  readonly id: string;
  readonly commands: readonly Command[];
}): VNode | null {
  const { id, commands } = props;
  const { t, text, integer, locale, href } = useLanguage();
  if (commands.length === 0) return null;
  const all = commands.flatMap((command) => listUsages(command, locale));
  return (
    <details class="panel commands">
      <summary>
        <h2>{t('bot.commands')}</h2> <small class="muted">{integer(all.length)}</small>
      </summary>
      {all.length > maxUsages && (
        <p class="muted">
          {t('bot.firstCommands', { shown: maxUsages, count: all.length })}{' '}
          <a href={href(`/api/v2/bots/${id}/commands`)}>{t('shelf.seeAll')}</a>
        </p>
      )}
      {all.length >= minToFilter && (
        <input
          type="search"
          hidden
          aria-label={text('bot.findCommand')}
          placeholder={text('bot.findCommand')}
        />
      )}
      <ul lang="">
        {all.slice(0, maxUsages).map(({ name, options, described, isAdult }) => {
          const about = findLocalized(described.description_localizations, locale);
          return (
            <li key={name}>
              <code dir="auto">
                {name}
                {options.map((option) => (
                  <i key={option.name}> {formatOption(option, locale)}</i>
                ))}
              </code>{' '}
              {isAdult && <span class="tag adult">{t('bot.adult')}</span>}{' '}
              <span dir="auto" lang={about === undefined ? undefined : locale}>
                {withoutBidiControls(about ?? described.description ?? '')}
              </span>
            </li>
          );
        })}
      </ul>
    </details>
  );
}

/** Maximum number of usages; more would make the page too large. */
const maxUsages = 80;
const minToFilter = 8;

function listUsages(command: Command, locale: Locale): Usage[] {
  const { type = 1, nsfw: isAdult = false } = command;
  const list = (described: Command | CommandOption, before: string): Usage[] => {
    const own = findLocalized(described.name_localizations, locale) ?? described.name;
    const name = withoutBidiControls(before + own);
    const options = described.options ?? [];
    const inner = options.filter((option) => option.type === subcommand || option.type === group);
    if (inner.length > 0) return inner.flatMap((option) => list(option, `${name} `));
    return [{ name, options, described, isAdult }];
  };
  // The other types are entries of menus.
  return list(command, type === typed ? '/' : '');
}

/** Numbers of types of commands, and of options, in Discord's API. */
const typed = 1;
const [subcommand, group] = [1, 2];

function formatOption({ name, name_localizations, required = false }: CommandOption, locale: Locale): string {
  const own = withoutBidiControls(findLocalized(name_localizations, locale) ?? name);
  return required ? own : `[${own}]`;
}

/** Returns the text in the language nearest to the reader's; undefined without texts. */
function findLocalized(texts: CommandNames | null = {}, locale: Locale): string | undefined {
  const [nearest = ''] = findLanguages([locale], Object.keys(texts ?? {}) as Locale[]);
  return texts?.[nearest];
}
