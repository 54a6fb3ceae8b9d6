import { fixtureLines } from './fixture-lines.ts';
import { collection, mainPage, pagePath, translation } from './sample.ts';

export const homer = '190519304972663312';

/** The pictures of the bots that have some. */
export const pictures = {
  avatar: 'https://pictures.example.org/avatar.png',
  cover: 'https://pictures.example.org/cover.png',
  preview: Array.from({ length: 20 }, (_, i) => `https://pictures.example.org/${i}.png`),
};

const table = '\n| command | what it does |\n|---|---|\n| `!a` | a |\n\n```js\nconst a = 1; // one\n```\n';
const inviteWithPermissions =
  'https://discord.com/oauth2/authorize?client_id=12&scope=bot&permissions=3263488';
const inviteWithFullControl =
  'https://discord.com/oauth2/authorize?client_id=8&scope=bot+applications.commands&permissions=8';
const locales = 'ar bg cs da de el es fi fr he hi hu it ja ko nb nl pl pt-BR ro ru sv tr uk'.split(' ');
/** Pictures of every kind, each below the one before it. */
const album = [
  `![wide](${pictures.avatar})`,
  `Words ![inline](${pictures.preview[0]}) around it.`,
  `<img src="${pictures.preview[1]}" width="120"> <img src="${pictures.preview[2]}" height="40">`,
  `<img src="${pictures.preview[3]}" align="right" width="150">\n\nWords beside it.`,
  `| a | b |\n|---|---|\n| ![in a cell](${pictures.preview[4]}) | b |`,
  `- ![in a list](${pictures.preview[5]})`,
  `<center>\n\n[![in a link](${pictures.preview[6]})](https://example.org)\n\n</center>`,
  `<details open><summary>More</summary>\n\n![in a fold](${pictures.preview[7]})\n\n</details>`,
  '![a badge](https://badges.example.org/a.svg)',
].join(`\n\n${'Between the pictures. '.repeat(60)}\n\n`);

/** A catalogue with bots of every kind, path → text. */
export const files: Readonly<Record<string, string>> = {
  [pagePath(homer)]: mainPage({ verified: true }, `# Homer\n\nAsk him.\n${table}`),
  [pagePath(homer, 'fr')]: translation(
    'Homère',
    'Répond aux questions sur les beignets.',
    '## Les beignets\n\nBonjour.',
  ),
  [pagePath('8', 'ar')]: mainPage(
    { name: 'قيثارة', description: 'بوت', category: 'music', invite: inviteWithFullControl },
    '# عنوان\n\nمرحبا',
  ),
  [pagePath('9')]: mainPage(
    { name: 'W'.repeat(32), description: 'W'.repeat(200), nsfw: true },
    'x'.repeat(2000),
  ),
  [pagePath('10')]: mainPage(
    { name: 'Gallery', description: 'Has 20 pictures and 25 languages.', images: pictures },
    `![cover](${pictures.cover})`,
  ),
  ...Object.fromEntries(
    locales.map((locale) => [pagePath('10', locale), translation(`Gallery ${locale}`, 'Has 20 pictures.')]),
  ),
  [pagePath('11')]: mainPage({ name: 'Showcase', images: pictures }, fixtureLines('all-html.md').join('\n')),
  [pagePath('12')]: mainPage(
    { name: 'Short', description: 'Says little.', invite: inviteWithPermissions },
    'Short.',
  ),
  [pagePath('13')]: mainPage({ name: 'Album' }, album),
  'collections/evening.en.md': collection(
    { title: 'For the evening', bots: ['7', homer, '9', '10', '11'] },
    '## Why\n\nThey are **quiet**.',
  ),
  'collections/evening.ar.md': collection({ title: 'للمساء', description: 'بوتات هادئة.' }),
  ...Object.fromEntries(
    Array.from({ length: 30 }, (_, i) => [
      pagePath(String(100 + i)),
      mainPage({ name: `Filler ${100 + i}`, description: 'Keeps score.', category: 'games' }),
    ]),
  ),
};

/** The pages of these bots and of the site, in which is everything that pages are made of. */
export const paths = `
  / /?nsfw=true&q=w /?q=zzzz /categories/music /collections /collections/evening?locale=ar&nsfw=true
  /bots/${homer} /bots/8 /bots/9 /bots/10?locale=he /bots/11
  /bots/13 /bots/8/report /add /docs /nothing
`
  .trim()
  .split(/\s+/);
