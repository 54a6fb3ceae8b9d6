import { Random, Ranked } from './random.ts';

/** A language of generated bots. */
export interface Language {
  readonly locale: string;
  /** Words in the order of their use: a few real ones, then invented ones that sound alike. */
  readonly words: Ranked<string>;
  /** Bare invented words, for names. */
  readonly inventions: readonly string[];
  /** What is written between words, after a clause and after a sentence. */
  readonly space: string;
  readonly comma: string;
  readonly stop: string;
  /** How many Latin letters say as much as one character of this script. */
  readonly density: number;
}

/** Returns the languages, ordered by how many bots use them in listings of chat-platform bots. Made at the first use. */
export function languages(): readonly Language[] {
  made ??= spoken.map(make);
  return made;
}

let made: readonly Language[] | undefined;

function make({ locale, words, syllables, han = false, comma = ', ' }: Spoken, index: number): Language {
  const inventions = invent(syllables.split(' '), han ? [1, 3] : [2, 4], new Random(index + 1));
  return {
    locale,
    words: new Ranked([...words.split(' '), ...inventions]),
    inventions,
    space: han ? '' : ' ',
    comma: han ? '、' : comma,
    stop: han ? '。' : '. ',
    density: han ? 2.5 : 1,
  };
}

/** As many words as a language invents. */
const wordCount = 5000;

function invent(syllables: readonly string[], [least, most]: [number, number], random: Random): string[] {
  const words = new Set<string>();
  while (words.size < wordCount) {
    let word = '';
    for (let length = random.integer(least, most); length > 0; length--) word += random.pick(syllables);
    words.add(word);
  }
  return [...words];
}

interface Spoken {
  readonly locale: string;
  readonly words: string;
  readonly syllables: string;
  /** Written without spaces between words. */
  readonly han?: boolean;
  readonly comma?: string;
}

const spoken: readonly Spoken[] = [
  {
    locale: 'en',
    words:
      'the a your and to for server of in with bot that it every music on play members message channel role command games you when or from by one new moderation can fun list search time daily level welcome images news weather quiz reminder translate economy custom simple fast free open',
    syllables: 'ka lo mi ra ten vu so pe na bi gor lin zu wa she tro el an or is mar del fin quo',
  },
  {
    locale: 'es',
    words:
      'de la el en y tu para los un servidor con que una por bot música juegos mensajes canal cada moderación rol comandos diario imágenes noticias niveles gratis rápido ayuda búsqueda',
    syllables: 'ca ción lo ra ta ne do mi sa bra que ri jo ño lu pe es al mar te',
  },
  {
    locale: 'pt-BR',
    words:
      'de o a e para seu com que um do em servidor não uma bot música jogos mensagens canal cada moderação cargo comandos diário imagens notícias níveis grátis rápido ajuda busca',
    syllables: 'ção lo ra nha ta ne do mi sa bra que ri jo lhe lu pe es al mar te',
  },
  {
    locale: 'fr',
    words:
      'de le la et les à des un votre pour serveur en une du avec que bot musique jeux messages salon chaque modération rôle commandes quotidien images actualités niveaux gratuit rapide aide recherche',
    syllables: 'eau tion lou ra ment ne dé mi sa bré que ri jou lè lu pé es al mar te',
  },
  {
    locale: 'de',
    words:
      'der die und das den mit für dein auf ein Server eine zu im von Bot Musik Spiele Nachrichten Kanal jeder Moderation Rolle Befehle täglich Bilder Neuigkeiten Stufen kostenlos schnell Hilfe Suche',
    syllables: 'ung lich ra sch ten ver mi keit brü qua ri jä lo gen ber es al mar te häu',
  },
  {
    locale: 'ja',
    words:
      'の を に は が で サーバー ボット 音楽 ゲーム メッセージ チャンネル 管理 役割 コマンド 毎日 画像 ニュース レベル 無料 検索 ヘルプ',
    syllables: 'か し た な ほ み り れ 音 時 日 本 語 手 空 色 風 花 星 道 声 絵 ロ マ ン ト ス',
    han: true,
  },
  {
    locale: 'zh-CN',
    words:
      '的 和 在 您 为 服务器 机器人 音乐 游戏 消息 频道 管理 角色 命令 每日 图片 新闻 等级 免费 搜索 帮助',
    syllables: '天 地 人 山 水 火 风 云 花 月 星 海 书 画 声 光 明 快 新 小 大 家 友 心 电 路 城 门',
    han: true,
  },
  {
    locale: 'ru',
    words:
      'и в на для с по вашего не сервера бот музыка игры сообщения канал каждый модерация роль команды ежедневно картинки новости уровни бесплатно быстро помощь поиск',
    syllables: 'ка ло ми ра тен ву со пе на би гор лин зу ва ше тро ель ан ор ость ник ски',
  },
  {
    locale: 'ko',
    words:
      '서버 봇 음악 게임 메시지 채널 관리 역할 명령어 매일 이미지 뉴스 레벨 무료 검색 도움말 모든 빠른 위한',
    syllables: '가 나 다 라 마 바 사 아 자 차 카 타 하 은 를 에서 기 리 미 비 시 지 들 음 원',
  },
  {
    locale: 'tr',
    words:
      've bir için ile bu sunucu bot müzik oyunlar mesajlar kanal her moderasyon rol komutlar günlük resimler haberler seviye ücretsiz hızlı yardım arama',
    syllables: 'ka lar mi rı ten vü so pe na bi gör lin zu ya şe tir el an or ış çi ğı',
  },
  {
    locale: 'ar',
    comma: '، ',
    words:
      'في من على إلى خادم بوت موسيقى ألعاب رسائل قناة كل إشراف دور أوامر يومي صور أخبار مستويات مجاني سريع مساعدة بحث',
    syllables: 'كا لو مي را تن فو سو بي نا با جو لي زو وا شي تر ال ان ور ية',
  },
  {
    locale: 'hi',
    words: 'के में और का की सर्वर बॉट संगीत खेल संदेश चैनल हर प्रबंधन भूमिका आदेश दैनिक चित्र समाचार स्तर मुफ़्त तेज़ सहायता खोज',
    syllables: 'का लो मी रा तन वू सो पे ना बी गो ली ज़ू वा शे त्र ती नी री',
  },
];
