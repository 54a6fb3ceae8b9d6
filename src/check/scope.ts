import { botsFolder } from '../catalogue/page/layout.ts';

/** A part of the catalogue: all of it, or names in `bots/` with all or some of the names in each. */
export type Scope = 'everything' | ReadonlyMap<string, 'everything' | ReadonlySet<string>>;

/** Returns the part that has these paths, each relative to the catalogue's folder and at or below `bots/`. */
export function createScope(paths: Iterable<string>): Scope {
  const scope = new Map<string, 'everything' | Set<string>>();
  for (const path of paths) {
    const [, top, name] = path.split('/');
    if (top === undefined) return 'everything';
    const names = scope.get(top);
    if (name === undefined || names === 'everything') scope.set(top, 'everything');
    else if (names) names.add(name);
    else scope.set(top, new Set([name]));
  }
  return scope;
}

/** Returns which names of `bots/<top>/` are in the part; undefined when none is. */
export function listNamesInScope(scope: Scope, top: string): 'everything' | ReadonlySet<string> | undefined {
  return scope === 'everything' ? 'everything' : scope.get(top);
}

/** Whether a path relative to the catalogue's folder is in the part. */
export function isInScope(scope: Scope, path: string): boolean {
  if (scope === 'everything') return true;
  const [bots, top = '', name = ''] = path.split('/');
  const names = bots === botsFolder ? scope.get(top) : undefined;
  return names === 'everything' || (names?.has(name) ?? false);
}
