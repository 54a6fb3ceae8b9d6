import type { Config } from './config.ts';
import type { Log } from '../lib/log.ts';
import type { Login } from '../login/login.ts';
import { readSecretFile } from '../login/secret-file.ts';

/** Opens the log-in, with the configured secrets or the one in `var`. Null where none is configured. */
export async function openLogin(config: Config, log: Log): Promise<Login | null> {
  const { login: settings, baseUrl } = config;
  if (settings === null) return null;
  const secrets = config.secrets.length > 0 ? config.secrets : [await readSecretFile(config.var)];
  // Imported here only: most of it is libraries.
  const { Login } = await import('../login/login.ts');
  return new Login({ settings, secrets, baseUrl, log });
}
