import { appendFileSync } from 'node:fs';
import { Router } from '@koa/router';

/*
 * Loaded with `--import` before a service: appends each of its routes to the file ROUTES_FILE, a method and a path a line.
 */
const file = process.env['ROUTES_FILE'] ?? '';
const { register } = Router.prototype;
Router.prototype.register = function (path, methods, ...rest) {
  if (!Array.isArray(path))
    for (const method of methods) appendFileSync(file, `${method.toUpperCase()} ${String(path)}\n`);
  return register.call(this, path, methods, ...rest);
};
