import type { VNode } from 'preact';
import { type BotId, parseBotId } from '../../bot/id.ts';
import { toCanonicalLocale, type Locale } from '../../bot/locale.ts';
import { assembleRecord, type FilledMainPage, listElement } from '../../bot/record.ts';
import type { BotListElement, BotRecord, Category, Translation } from '../../bot/schema-types.ts';
import { withDefaults } from '../../catalogue/page/defaults.ts';
import { Card } from '../front/card.tsx';
import { directionOf } from '../language/locales.ts';
import { useLanguage } from '../language/page-language.tsx';
import type { Html } from '../markdown/markdown.ts';
import { withoutBidiControls } from '../page/bidi.ts';
import { Prose } from '../page/prose.tsx';
import type { FieldTexts } from './add-fields.ts';
import type { FormEntry } from './form-entry.ts';

/** A bot as it will be listed, in the language of the form. */
export interface PreviewedBot {
  readonly bot: BotListElement;
  readonly locale: Locale;
}

/**
 * Returns the bot of a form.
 * @param listed the record that it has now; undefined for a new bot
 * @param empty what is shown for texts that are empty
 * @param categories those that a bot can have
 */
export function createPreview(
  entry: FormEntry,
  { id = '', locale: tag = '' }: FieldTexts,
  listed: BotRecord | undefined,
  empty: Translation,
  categories: readonly Category[],
): PreviewedBot {
  const locale = toCanonicalLocale(tag.trim()) ?? unknownLanguage;
  const { data, page } = entry;
  const { name, description } = data;
  const filled = withDefaults({ ...listed, ...data }) as unknown as FilledMainPage;
  const category = categories.includes(filled.category) ? filled.category : 'other';
  const main = {
    locale,
    page,
    data: {
      ...filled,
      category,
      name: String(name) || empty.name,
      description: String(description) || empty.description,
    },
  };
  const botId = parseBotId(listed?.id ?? id.trim()) ?? unknownId;
  return { bot: listElement(assembleRecord(botId, main, [], listed?.cachedImages)), locale };
}

/** What replaces a language or an ID that is wrong. */
const unknownLanguage = toCanonicalLocale('en') as Locale;
const unknownId = parseBotId('0') as BotId;

/** The card and the page of a bot as they will be. The card leads nowhere. */
export function Preview({
  bot: { bot, locale },
  page,
  html,
}: {
  readonly bot: PreviewedBot;
  readonly page: string;
  readonly html: Html;
}): VNode {
  const { text } = useLanguage();
  const { name = '', description = '' } = bot.contents[locale] ?? {};
  const language = { lang: locale, dir: directionOf(locale) };
  return (
    <>
      <ul class="cards" inert>
        <Card
          {...{ bot, locale, namesLanguage: false, count: undefined, growth: undefined, lazy: false }}
          heading="h3"
          today={undefined}
        />
      </ul>
      <div class="page-preview stack" role="group" aria-label={text('add.preview')} tabIndex={0}>
        <div class="stack" {...language}>
          <p class="name">{withoutBidiControls(name)}</p>
          <p class="muted">{withoutBidiControls(description)}</p>
        </div>
        <Prose locale={locale} text={page} html={html} />
      </div>
    </>
  );
}
