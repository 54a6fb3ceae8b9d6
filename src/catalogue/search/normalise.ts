/**
 * Folds what should not matter when words are compared: width and other compatible forms, case, marks on Latin, Greek
 * and Cyrillic letters, and letters that people type as others. A mark of any other script stays, as it makes another
 * sound there: ボ is not ホ. The Cyrillic й stays too: it is a letter of its own, and stems depend on it.
 */
export function normalise(text: string): string {
  if (plain.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFD')
    .replace(marked, (all: string, letter: string) => (all === shortI ? all : letter))
    .normalize('NFC')
    .replace(replaced, (letter) => replacements.get(letter) ?? letter);
}

const plain = /^[\0-\x7f]*$/;
const marked = /([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{M}+/gu;
const shortI = 'й'.normalize('NFD');

/** Letters in pairs: each is replaced by what follows it. */
const replacements = new Map(
  'ł l,ß ss,æ ae,œ oe,þ th,ð d,đ d,ø o,ħ h,ı i,ς σ,أ ا,إ ا,آ ا,ى ي,ة ه'
    .split(',')
    .map((pair) => pair.split(' ') as [string, string]),
);
const replaced = new RegExp(`[${[...replacements.keys()].join('')}]`, 'gu');
