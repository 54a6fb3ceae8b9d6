/** A part of the syntax tree as Babel has it, as far as it is read here. */
interface Path {
  readonly node: { readonly type: string };
  readonly parentPath: Path | null;
  /** `arguments` of an argument of a call. */
  readonly listKey: string | undefined;
  get(key: 'callee' | 'expression'): Path;
  get(key: 'body'): readonly Path[];
  toString(): string;
}

/** A plugin of Stryker: what only people read is not mutated, because no test is to repeat the words of a message. */
export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'wording',
    value: {
      shouldIgnore(path: Path): string | undefined {
        if (isLog(path)) return 'a line of the log, or where a test of crashes kills its service';
        if (/^(?:String|Template)Literal$/.test(path.node.type) && isInMessage(path))
          return 'the wording of a message';
        return undefined;
      },
    },
  },
];

/** Whether this is a call of the log or of `failpoint`, or a block of one such call. */
function isLog(path: Path): boolean {
  if (path.node.type === 'BlockStatement')
    return path.get('body').length === 1 && path.get('body').every(isLog);
  if (path.node.type === 'ExpressionStatement') return isLog(path.get('expression'));
  if (!path.node.type.endsWith('CallExpression')) return false;
  return /\blog\??\.(?:debug|info|warn|error|fatal)$|^failpoint$/i.test(String(path.get('callee')));
}

/** Whether a text is words in an argument of `new …Error(…)`. */
function isInMessage(text: Path): boolean {
  if (!String(text).includes(' ')) return false;
  for (let at = text; at.parentPath !== null && !/Statement|Function/.test(at.node.type); at = at.parentPath)
    if (at.listKey === 'arguments' && at.parentPath.node.type === 'NewExpression')
      return String(at.parentPath.get('callee')).endsWith('Error');
  return false;
}
