import type { Language } from './languages.ts';
import type { Random } from './random.ts';

/** The most characters of a page, without its last line end. */
export const longestPage = 20_000;

/** One sentence of at most `most` characters, without the blank behind its full stop. */
export function sentence(language: Language, random: Random, length: number, most: number): string {
  const { words, space, comma, stop } = language;
  let text = capitalised(words.draw(random));
  for (let next = words.draw(random); text.length < length; next = words.draw(random)) {
    const gap = random.chance(0.08) ? comma : space;
    if (text.length + gap.length + next.length + 1 > most) break;
    text += gap + next;
  }
  return text + stop.trimEnd();
}

/** A markdown page of about `length` characters: paragraphs, lists, tables, code and quotes under headings. */
export function markdown(name: string, language: Language, random: Random, length: number): string {
  let text = `# ${name}\n\n${paragraph(language, random)}`;
  while (text.length < length) {
    const next = `\n\n${random.pick(blocks)(language, random)}`;
    if (text.length + next.length > longestPage) break;
    text += next;
  }
  return text;
}

/** With a capital where the script has them. */
export function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function paragraph(language: Language, random: Random): string {
  const gap = language.stop.endsWith(' ') ? ' ' : '';
  return Array.from({ length: random.integer(1, 4) }, () => line(language, random)).join(gap);
}

function line(language: Language, random: Random): string {
  return sentence(language, random, random.integer(20, 120) / language.density, 200);
}

function heading(language: Language, random: Random): string {
  return `## ${words(language, random, 2)}\n\n${paragraph(language, random)}`;
}

function list(language: Language, random: Random): string {
  const items = Array.from(
    { length: random.integer(2, 7) },
    () => `- **${words(language, random, 1)}**: ${line(language, random)}`,
  );
  return items.join('\n');
}

function table(language: Language, random: Random): string {
  const rows = Array.from(
    { length: random.integer(2, 6) },
    () => `| \`/${words(language, random, 1)}\` | ${words(language, random, 5)} |`,
  );
  return [`| ${words(language, random, 1)} | ${words(language, random, 1)} |`, '|---|---|', ...rows].join(
    '\n',
  );
}

function code(language: Language, random: Random): string {
  return `\`\`\`js\nbot.on('${words(language, random, 1)}', () => bot.send(${random.integer(1, 99)}));\n\`\`\``;
}

function quote(language: Language, random: Random): string {
  return `> ${line(language, random)}`;
}

function link(language: Language, random: Random): string {
  const path = random.bits().toString(36);
  return `${line(language, random)} [${words(language, random, 2)}](https://docs.example.org/${path})`;
}

const blocks = [paragraph, paragraph, paragraph, heading, heading, list, list, table, code, quote, link];

function words({ words, space }: Language, random: Random, count: number): string {
  return Array.from({ length: count }, () => words.draw(random)).join(space);
}
