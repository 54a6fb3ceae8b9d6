import type { VNode } from 'preact';
import { readInvite } from '../../bot/permissions.ts';
import type { BotRecord } from '../../bot/schema-types.ts';
import { directionOf } from '../language/locales.ts';
import { useLanguage } from '../language/page-language.tsx';
import { Avatar } from '../page/bot-image.tsx';
import { Byline } from '../page/author-names.tsx';
import { CheckMark } from '../page/check-mark.tsx';
import { OwnLink } from '../page/links.tsx';
import type { ShownBotProps } from './bot-page.tsx';
import { permissionsId } from '../page/permissions.tsx';

/** The top of a bot's page: its cover, name and description, and where to add it, at the same height for every bot. */
export function BotHead({ bot, locale, blurImages, name, description, authors }: ShownBotProps): VNode {
  const { t, text } = useLanguage();
  const language = { lang: locale, dir: directionOf(locale) };
  const { avatar, cover } = bot.cachedImages;
  return (
    <header class="bot-head">
      {cover !== null && (
        <div class="cover">
          <img class={blurImages ? 'veiled' : undefined} src={cover} alt="" width="1280" height="400" />
        </div>
      )}
      <Avatar id={bot.id} name={name} image={avatar} size={104} blurred={blurImages} />
      <div class="title">
        <h1>
          <span {...language}>{name}</span>
          {bot.verified && (
            <a class="verified" href={`#${verifiedId}`} aria-label={text('bot.verifiedMeans')}>
              <CheckMark size={22} />
            </a>
          )}
          {bot.nsfw && <span class="tag adult">{t('bot.adult')}</span>}
        </h1>
        <Byline authors={authors} isLinked />
        <p class="about" {...language}>
          {description}
        </p>
      </div>
      <Actions bot={bot} />
    </header>
  );
}

/** The id of the sentence that says what verified means. */
export const verifiedId = 'verified';

function Actions({ bot: { invite, support, website } }: { readonly bot: BotRecord }): VNode {
  const { t } = useLanguage();
  const fullControl = readInvite(invite)?.fullControl ?? false;
  return (
    <ul class="actions">
      <li class="invite">
        <a
          class="button"
          href={invite}
          rel="nofollow ugc noopener"
          aria-describedby={fullControl ? 'full-control' : undefined}
        >
          {t('bot.invite')}
        </a>
        {fullControl && (
          <a id="full-control" class="warning" href={`#${permissionsId}`}>
            {t('permissions.fullControl')}
          </a>
        )}
      </li>
      {support !== null && <OwnLink href={support}>{t('bot.support')}</OwnLink>}
      {website !== null && <OwnLink href={website}>{t('bot.website')}</OwnLink>}
    </ul>
  );
}
