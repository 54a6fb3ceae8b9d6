import type { VNode } from 'preact';
import { useLanguage } from '../language/page-language.tsx';
import type { ShownBotProps } from './bot-page.tsx';
import { BotImage } from '../page/bot-image.tsx';

/** Screenshots in one row that scrolls, each a link to its full size. */
export function Screenshots({ bot, blurImages, name }: ShownBotProps): VNode | null {
  const { t, text } = useLanguage();
  const images = bot.cachedImages.preview;
  if (images.length === 0) return null;
  return (
    <section class="screenshots" aria-labelledby="screenshots">
      <h2 id="screenshots" class="out-of-sight">
        {t('bot.screenshots')}
      </h2>
      <ul>
        {images.map((path, i) => (
          <li key={path}>
            <a href={path}>
              <BotImage
                path={path}
                alt={text('bot.screenshot', { number: i + 1, name })}
                width={640}
                height={360}
                small={320}
                larger={{ sizes: '(min-width: 60rem) 19rem, 15rem', full: 1280 }}
                lazy={i > 2}
                blurred={blurImages}
              />
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
