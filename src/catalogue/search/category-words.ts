import type { Category } from '../../bot/schema-types.ts';
import type { CatalogueSettings } from '../settings/settings.ts';
import { minCommonPrefixLength, Stems } from './stems.ts';
import { withoutStopWords } from './stop-words.ts';
import { splitTypedWords } from './words.ts';

/** The words that are names of categories. */
export class CategoryWords {
  /** Every name of one word, folded, and its category; words that say nothing do not count. */
  readonly names: ReadonlyMap<string, Category>;
  readonly #longer: readonly LongerName[];

  /** @param named categories and their names; the usual names of the default ones are known */
  constructor(named: Iterable<readonly [Category, readonly string[]]>) {
    const names = new Map<string, Category>();
    const shortened = new Map<string, Category>();
    const longer: LongerName[] = [];
    for (const [category, own] of named) {
      const usual = Object.hasOwn(usualNames, category) ? (usualNames[category] ?? '').split(' ') : [];
      for (const name of [category, ...usual, ...own].filter((name) => name !== 'other')) {
        const words = splitTypedWords(name);
        const all = words.map(({ text }) => text);
        const telling = withoutStopWords(words).map(({ text }) => text);
        const [word, more] = telling;
        if (all.length > 1) longer.push({ all, telling, category });
        if (word !== undefined && more === undefined)
          (all.length > 1 ? shortened : names).set(word, category);
      }
    }
    this.names = new Map([...shortened, ...names]);
    this.#longer = longer;
  }

  /** Returns the category that a word is a name of, in any of the languages here and any form. */
  of(word: string): Category | undefined {
    const known = this.names.get(word);
    if (known !== undefined || word.length < minLengthWithForms) return known;
    const stems = new Stems(word);
    const beginning = word.slice(0, minCommonPrefixLength);
    for (const [name, category] of this.names)
      if (name.startsWith(beginning) && stems.areSharedBy(name, everyLanguage)) return category;
    return undefined;
  }

  /**
   * Returns the category of each word that is part of a longer name, where at least two words of the name are here and of
   * those that say something all.
   */
  ofLongerNames(words: readonly string[]): Map<string, Category> {
    const found = new Map<string, Category>();
    const inWords = (name: string): string | undefined => words.find((word) => isForm(word, name));
    for (const { all, telling, category } of this.#longer) {
      const used = telling.map(inWords).filter((word) => word !== undefined);
      if (used.length < telling.length || all.filter(inWords).length < 2) continue;
      for (const word of used) found.set(word, category);
    }
    return found;
  }
}

function isForm(word: string, name: string): boolean {
  if (word === name || word.length < minLengthWithForms) return word === name;
  return word[0] === name[0] && new Stems(word).areSharedBy(name, everyLanguage);
}

/** A name of several words: all, and those that say something. */
interface LongerName {
  readonly all: readonly string[];
  readonly telling: readonly string[];
  readonly category: Category;
}

/** Returns the category words of settings, the same for the same ones. */
export function getCategoryWords(settings: SearchedCategories): CategoryWords {
  const known = made.get(settings);
  if (known !== undefined) return known;
  const { categories, categoryNames } = settings;
  const named = categories.map((id) => [id, Object.values(categoryNames.get(id) ?? {})] as const);
  const words = new CategoryWords(named);
  made.set(settings, words);
  return words;
}

type SearchedCategories = Pick<CatalogueSettings, 'categories' | 'categoryNames'>;

const made = new WeakMap<SearchedCategories, CategoryWords>();

const minLengthWithForms = 4;
const everyLanguage = ~0;

/** In the order en, de, fr, es, it, pt, nl, pl, tr, ru, uk, ja, zh, ko, ar; only words that are used for little else. */
const usualNames: Readonly<Record<Category, string>> = {
  education:
    'education educational learning study school homework bildung lernen schule éducation apprendre école educación aprender escuela istruzione imparare educação educacao onderwijs edukacja nauka eğitim образование учеба обучение освіта навчання 教育 学習 学习 學習 교육 학습 تعليم دراسه',
  entertainment:
    'entertainment unterhaltung divertissement entretenimiento intrattenimento entretenimento vermaak rozrywka eğlence развлечения развлечение розваги エンタメ 娯楽 娱乐 娛樂 엔터테인먼트 오락 ترفيه',
  fun: 'fun funny meme memes joke jokes spaß spass witz witze drôle amusant blague blagues diversión divertido chiste chistes divertimento divertente barzellette diversão divertido piadas grappig zabawa eğlenceli весело мемы мем шутки приколы 面白い お笑い ネタ 搞笑 有趣 재미 유머 مرح نكت',
  games:
    'game games gaming minigame minigames rpg spiel spiele jeu jeux juego juegos gioco giochi jogo jogos spel spellen gra gry oyun oyunlar игра игры игр ігри гра ゲーム 游戏 遊戲 게임 العاب لعبه',
  image:
    'image images picture pictures photo photos bild bilder foto fotos photo imagen imágenes imagenes immagine immagini imagem imagens afbeelding afbeeldingen obraz obrazy zdjęcia resim resimler görsel картинки картинка изображения изображение фото зображення 画像 写真 图片 圖片 이미지 사진 그림 صور صوره',
  moderation:
    'moderation moderator mod automod anti-spam antispam antiraid moderatie modération modérateur moderación moderador moderazione moderação moderacja moderasyon модерация модератор модерація モデレーション モデレーター 管理 审核 管理员 관리 모더레이션 اداره اشراف',
  music:
    'music musical song songs musik lied lieder musique chanson música musica canciones canzoni músicas muziek muzyka müzik музыка музыкальный музыкальная песни песня музика 音楽 曲 ミュージック 音乐 音樂 歌曲 음악 노래 موسيقي اغاني',
  news: 'news headlines nachrichten actualités actualité nouvelles noticias notizie notícias nieuws wiadomości haber haberler новости новость новини ニュース 新闻 新聞 뉴스 اخبار',
  notifications:
    'notification notifications notifier alert alerts notify benachrichtigung benachrichtigungen notificaciones notificación alertas notifiche notificações meldingen powiadomienia bildirim bildirimler уведомления уведомление сповіщення 通知 お知らせ 알림 اشعارات تنبيهات',
  other: '',
  productivity:
    'productivity reminder reminders todo tasks produktivität erinnerung productivité rappels productividad recordatorios produttività promemoria produtividade lembretes productiviteit produktywność üretkenlik продуктивность напоминания продуктивність 生産性 リマインダー 效率 提醒 생산성 알리미 انتاجيه تذكير',
  utility:
    'utility utilities tool tools nützlich werkzeug werkzeuge utilitaire utilitaires outil outils utilidad utilidades herramienta herramientas utilità strumenti utilidade utilitários ferramentas hulpmiddelen narzędzia araç araçlar утилиты утилита инструменты утиліти 便利 ツール 实用 工具 유틸리티 도구 유틸 ادوات',
};
