import { normalise } from './normalise.ts';

/**
 * Whether a word of a query says nothing of what a bot does: articles, short words, "bot" itself. They count only where
 * a query has no others.
 */
export function isStopWord(word: string): boolean {
  return stopWords.has(word);
}

/** Returns the words that say something of a bot; all where none does. */
export function withoutStopWords<T extends { readonly text: string }>(words: readonly T[]): readonly T[] {
  const telling = words.filter(({ text }) => !isStopWord(text));
  return telling.length > 0 ? telling : words;
}

/** Returns a word without the "bot" that it ends with: "musicbot". */
export function withoutBot(word: string): string {
  return word.replace(/^(\p{L}{3,}?)(?:bots?|бот[аы]?)$/u, '$1');
}

/** Returns a word without the particle that Korean writes at its end, and without "bot". */
export function withoutParticle(word: string): string {
  return word.replace(particle, '$1');
}

const particle =
  /^(\p{sc=Hang}{2,}?)(?:해주는|하는|에서|으로|들을|들이|을|를|이|가|은|는|의|에|로|와|과|도|봇)+$/u;

const stopWords = new Set(
  [
    'a an the that this these those which who what for from of to in on at by with and or is are be it its i me my we our you your can could do does how want need looking find search get give gives has have some any all there bot bots discord server servers guild application app please',
    'ein eine einen einem einer eines der die das den dem des und oder fur mit von vom zu zum zur im in am an auf ist sind ich mir mein meine meinen wir uns unser unseren du dein deinen kann der welcher welche suche brauche will einfach bots als servers',
    'un une des le la les l d de du et ou pour avec sur dans en est sont je me mon ma mes nous notre vous votre qui que quoi peut cherche veux au aux ce cette robot serveur serveurs',
    'un una unos unas el la los las lo de del y o para por con en es son que me mi mis tu tus su sus yo quiero busco necesito puede al robot servidor servidores',
    'un uno una il lo la i gli le l di del della dei delle e o per con in su nel nella e sono che mi mio mia tuo io voglio cerco puo al',
    'um uma uns umas o a os as de do da dos das e ou para por com em no na e sao que me meu minha seu eu quero procuro pode ao robo servidor',
    'een de het van en of voor met op in te is zijn dat die ik mijn je jouw wil zoek kan',
    'бот бота боты ботов боту и или в во на с со для по из от к у о что который которая которое которые это мне мои моего мой я хочу нужен ищу как где не чтобы дискорд сервер сервера серверов',
    'бот боти та або в у на з для до що який яка яке мені я хочу потрібен',
    'bir ve veya icin ile bu su o mi da de bana benim istiyorum olan gibi botu botlar sunucu',
    'i w z na do dla ze się jest jaki ktory ktora ktore moj chce szukam boty',
    'ボット の を に が は で と へ も や な する して した できる ます です たい ほしい 欲しい ください から まで など よう よ ね た て し れる られる くれる ような さん サーバー',
    '机器人 機器人 的 了 和 与 或 在 是 有 我 你 要 想 可以 能 能够 个 一个 一 吗 把 给 用 个人 服务器',
    '봇 봇을 저 제 그 이 수 있는 하는 해주는 위한 및 또는 나 내 주는 좋은 추천 서버',
    'بوت بوتات روبوت في من على الى عن مع او و هذا هذه الذي التي اريد لي يمكن ان سيرفر خادم',
    'บอท ที่ และ หรือ ใน ของ สำหรับ กับ ให้ เป็น ได้ การ',
  ]
    .join(' ')
    .split(' ')
    .map(normalise),
);
