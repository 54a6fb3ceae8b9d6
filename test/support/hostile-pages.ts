/** As many characters as a page may have. */
export const longestPage = 20_000;

const tags =
  'a b blockquote button center code dd details div dl em form h1 h2 kbd li math ol option p pre select span sub summary sup svg table td template tr u ul'.split(
    ' ',
  );

/** Texts of the size of the longest page that a careless renderer takes quadratic time over, or worse. */
export const hostilePages: Readonly<Record<string, string>> = {
  brackets: fill('['),
  'closing brackets': `${'['.repeat(longestPage / 2)}${']'.repeat(longestPage / 2)}`,
  stars: fill('*'),
  'stars between letters': fill('*a '),
  'emphasis that never closes': fill('**a **b '),
  underscores: fill('_a'),
  tildes: fill('~~'),
  'quotes in quotes': fill('>'),
  'quotes and lists': fill('> - '),
  backticks: fill('`'),
  'backticks of every length': Array.from({ length: 190 }, (_, i) => '`'.repeat(i)).join(' '),
  'nested lists': Array.from({ length: 190 }, (_, i) => `${' '.repeat(i)}- a`).join('\n'),
  'lists on one line': fill('- '),
  'short items': fill('- a\n'),
  'short paragraphs': fill('a\n\n'),
  'links that never close': fill('[a]('),
  'pictures that never close': fill('![a]('),
  references: series((i) => `[a${i}]: b\n`),
  'a wide table': `${'|a'.repeat(longestPage / 4)}\n${'|-'.repeat(longestPage / 4)}`,
  'a wide table of empty rows': `${'|a'.repeat(500)}\n${'|-'.repeat(500)}\n${'a\n'.repeat(3000)}`,
  entities: fill('&amp'),
  ampersands: fill('&'),
  addresses: fill('https://a '),
  colons: fill(':a'),
  'code with brackets': `\`\`\`js\n${'('.repeat(9900)}\n\`\`\``,
  'code with tags': `\`\`\`xml\n${'<a '.repeat(3300)}\n\`\`\``,
  'code with numbers': `\`\`\`js\n${'1 '.repeat(4900)}\n\`\`\`\n`.repeat(2),
  'blocks of code': fill('```js\n1\n```\n'),

  'less-than signs': fill('<'),
  'less-than signs in a line': fill('x <'),
  'opening tags': fill('<a '),
  'closing tags': fill('</div>'),
  'every tag unclosed': fill(tags.map((tag) => `<${tag}>`).join('')),
  'comments that never close': fill('<!--'),
  'comments that never close, in a line': `x ${fill('<!--').slice(2)}`,
  'comments that close one dash late': `x ${fill('<!--x---->').slice(2)}`,
  'CDATA that never closes, in a line': `x ${fill('<![CDATA[').slice(2)}`,
  'instructions that never close, in a line': `x ${fill('<?').slice(2)}`,
  'declarations that never close, in a line': `x ${fill('<!a').slice(2)}`,
  'a huge attribute': `<a href="${'x'.repeat(longestPage - 12)}">`,
  'many attributes': `<a ${series((i) => `b${i} `)}`.slice(0, longestPage - 1).concat('>'),
  'quotes that never close': fill('<a href="'),
  'blanks in a tag': `<a${' '.repeat(longestPage - 3)}>`,
  'line breaks': fill('<br>'),
  'items with boxes in them': fill('<li><div><li>'),
  'tables with bold beside cells': fill('<table><b>'),
  'tables in links': fill('<a><table>'),
  'misnested paragraphs': fill('<b><p></b>'),
  'links around boxes': fill('<a href=//b><div>'),
  'bold that every paragraph opens again': `<p>${series((i) => (i < 1200 ? `<b a=${i}>` : '<p>x')).slice(3)}`,
  'thirteen kinds of emphasis that every paragraph opens again': `<p>${series((i) =>
    i < 3 ? '<b><i><u><s><em><code><strong><tt><small><big><strike><font><nobr>' : '<p>x',
  ).slice(3)}`,
  ...Object.fromEntries(tags.map((tag) => [`unclosed <${tag}>`, fill(`<${tag}>`)])),
  ...Object.fromEntries(tags.map((tag) => [`nested <${tag}>`, nested(tag)])),
};

function fill(text: string): string {
  return text.repeat(Math.ceil(longestPage / text.length)).slice(0, longestPage);
}

function series(part: (i: number) => string): string {
  let text = '';
  for (let i = 0; text.length < longestPage; i++) text += part(i);
  return text.slice(0, longestPage);
}

function nested(tag: string): string {
  const depth = Math.floor(longestPage / (2 * tag.length + 5));
  return `${`<${tag}>`.repeat(depth)}${`</${tag}>`.repeat(depth)}`;
}

/** Pages of up to 20,000 characters that take long to render, by what is in them. */
export const slowPages: Readonly<Record<string, string>> = {
  headings: '# a\n'.repeat(4600),
  'pictures that do not end': '!['.repeat(9500),
  'a table': `${'a|'.repeat(50)}\n${'-|'.repeat(50)}\n${'a|a|a|a|a|a|a|a|a|a\n'.repeat(900)}`,
  'blocks of CSS': `\`\`\`css\n${'a{b:c}'.repeat(1600)}\n\`\`\`\n`.repeat(2),
  'tags that do not end': '<a '.repeat(6000),
};

/** Lists of commands of up to so many bytes that a careless check takes long over, by what is in them. */
export function hostileCommands(bytes: number): Readonly<Record<string, string>> {
  const entries = {
    numbers: '1',
    'empty objects': '{}',
    'nested lists': '[[[[1]]]]',
    'options that are numbers': `{"options":[${Array.from({ length: 25 }, () => 1).join()}]}`,
    'thousands of languages': `{"name_localizations":{${Array.from({ length: 9000 }, (_, n) => `"k${n}":1`).join()}}}`,
  };
  return Object.fromEntries(
    Object.entries(entries).map(([name, entry]) => {
      const length = Math.floor(bytes / (entry.length + 1));
      return [name, `[${Array.from({ length }, () => entry).join()}]`];
    }),
  );
}
