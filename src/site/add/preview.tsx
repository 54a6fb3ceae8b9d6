import type { VNode } from 'preact';
import { type BotId, parseBotId } from '../../bot/id.ts';
import { toCanonicalLocale, type Locale } from '../../bot/locale.ts';
import { assembleRecord, type FilledMainPage, listElement, noCachedImages } from '../../bot/record.ts';
import { withDefaults } from '../../catalogue/page/page.ts';
import { Card, type ListedBot } from '../front/card.tsx';
import { directionOf } from '../language/locales.ts';
import { useLanguage } from '../page/page-context.tsx';
import type { PageLanguage } from '../language/languages.ts';
import { withoutBidiControls, Prose, type ProseProps } from '../page/elements.tsx';
import type { FieldTexts } from '../page/fields.ts';
import type { Form, FormFile, FormImage } from './forms.ts';

/** Returns the bot of a form. A text that is empty is the label of its field. */
export function createPreview(
  { listed, schema, texts: first }: Form,
  texts: FieldTexts,
  { data, page }: FormFile,
  images: readonly FormImage[],
  { text, categories }: Pick<PageLanguage, 'text' | 'categories'>,
): ListedBot {
  const { id = '', locale: tag = '' } = { ...first, ...texts };
  const locale = toCanonicalLocale(tag.trim()) ?? unknownLanguage;
  const name = String(data['name']) || text('field.name');
  const description = String(data['description']) || text('field.description');
  const filled = withDefaults({ ...listed, ...data }) as unknown as FilledMainPage;
  const category = categories.includes(filled.category) ? filled.category : 'other';
  const main = { locale, page, data: { ...filled, category, name, description } };
  const botId = parseBotId(listed?.id ?? id.trim()) ?? unknownId;
  const avatar = images.find(({ field }) => field === 'avatar')?.path ?? null;
  const cachedImages = schema === 'main-page' ? { ...noCachedImages, avatar } : listed?.cachedImages;
  const bot = listElement(assembleRecord(botId, main, [], cachedImages));
  return { bot, locale, namesLanguage: false, count: undefined, growth: undefined };
}

/** What replaces a language or an ID that is wrong. */
const unknownLanguage = toCanonicalLocale('en') as Locale;
const unknownId = parseBotId('0') as BotId;

export interface PreviewProps extends Pick<ProseProps, 'html' | 'retry'> {
  /** Undefined for what is not a bot. */
  readonly preview: ListedBot | undefined;
  /** With the page whose HTML it is. */
  readonly file: Pick<FormFile, 'page'>;
}

/** The card and the page of a bot as they will be. The card leads nowhere. */
export function Preview({ preview, file, ...rendered }: PreviewProps): VNode | null {
  const { text, locale: own } = useLanguage();
  if (preview === undefined)
    return file.page === '' ? null : <Prose {...rendered} locale={own} text={file.page} />;
  const { bot, locale } = preview;
  const { name = '', description = '' } = bot.contents[locale] ?? {};
  return (
    <>
      <ul class="cards" inert>
        <Card {...preview} heading="h3" />
      </ul>
      <div class="page-preview stack" role="group" aria-label={text('add.preview')} tabIndex={0}>
        <div class="stack" lang={locale} dir={directionOf(locale)}>
          <p class="name">{withoutBidiControls(name)}</p>
          <p class="muted">{withoutBidiControls(description)}</p>
        </div>
        <Prose {...rendered} locale={locale} text={file.page} />
      </div>
    </>
  );
}
