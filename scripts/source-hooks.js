import { existsSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'oxc-transform';

/*
 * Makes a module of `dist/` from its source when it is imported, built or not, also in the processes and threads that
 * this one starts. Types are not checked.
 */
const top = new URL('../', import.meta.url).href;
const dist = `${top}dist/`;

if (!import.meta.url.endsWith('?hooks')) {
  // Node 20 has only hooks in a thread of their own, which loads this file too.
  if (module.registerHooks) module.registerHooks({ resolve, load });
  else module.register(`${import.meta.url}?hooks`);
  const { NODE_OPTIONS = '' } = process.env;
  const own = `--import ${import.meta.url}`;
  if (!NODE_OPTIONS.includes(own)) process.env.NODE_OPTIONS = `${NODE_OPTIONS} ${own}`;
}

export function resolve(specifier, context, next) {
  const isRelative = specifier.startsWith('.');
  const url = isRelative ? new URL(specifier.replace(/\.tsx?$/, '.js'), context.parentURL).href : specifier;
  return findSource(url) ? { url, format: 'module', shortCircuit: true } : next(specifier, context);
}

export function load(url, context, next) {
  const path = findSource(url);
  if (path === undefined) return next(url, context);
  const options = {
    jsx: { runtime: 'automatic', importSource: 'preact' },
    typescript: { onlyRemoveTypeImports: true },
    sourcemap: true,
  };
  const { code, map, errors } = transformSync(path, readFileSync(path, 'utf8'), options);
  if (errors.length > 0) throw new SyntaxError(`${path}: ${errors[0].message}`);
  const encoded = Buffer.from(JSON.stringify(map)).toString('base64');
  const source = `${code}\n//# sourceMappingURL=data:application/json;base64,${encoded}`;
  return { source, format: 'module', shortCircuit: true };
}

/** Returns the path of a module's source; undefined if it is not one of `dist/`. */
function findSource(url) {
  if (!url.startsWith(dist)) return undefined;
  const base = fileURLToPath(top + url.slice(dist.length).replace(/\.m?js(?:\?.*)?$/, ''));
  return [`${base}.ts`, `${base}.tsx`].find((path) => existsSync(path));
}
