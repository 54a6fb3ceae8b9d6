import type { Log } from '../lib/log.ts';
import type { SettingReader } from '../lib/setting-reader.ts';
import type { Login } from './login.ts';
import type { IdentityProvider, LoginSettings } from './provider.ts';
import { isSecureOrigin } from './session.ts';

/** The settings of the login. */
interface LoginConfig {
  /** The provider of a demo; null outside of a demo. */
  readonly demo: IdentityProvider | null;
  readonly login: LoginSettings | null;
  readonly secrets: readonly string[];
  readonly baseUrl: string;
  readonly var: string;
}

/** Opens the login at the configured provider, or that of a demo. Null if none is configured. */
export async function openLogin(parts: {
  readonly config: LoginConfig;
  readonly log: Log;
}): Promise<Login | null> {
  const { config, log } = parts;
  const { demo, login, secrets, baseUrl } = config;
  if (demo === null && login === null) return null;
  // Imported only here, because most of it is libraries.
  const { Login, LogOuts, openProvider, readSecretFile } = await import('./login.ts');
  const provider = demo ?? (login && (await openProvider(login, baseUrl)));
  const own = secrets.length > 0 ? secrets : [await readSecretFile(config.var)];
  const logOuts = new LogOuts({ folder: config.var, log });
  await logOuts.load();
  return provider && new Login({ provider, secrets: own, baseUrl, logOuts, log });
}

/** Reads the provider from the variables `BOTSHELF_OAUTH_…`; null when none is set. */
export function readLoginSettings(reader: SettingReader): LoginSettings | null {
  const { faults, missing } = reader;
  const provider = reader.text('BOTSHELF_OAUTH_PROVIDER')?.toLowerCase();
  const issuer = reader.text('BOTSHELF_OAUTH_ISSUER');
  const idClaim = reader.text('BOTSHELF_OAUTH_ID_CLAIM');
  const clientId = reader.text('BOTSHELF_OAUTH_CLIENT_ID');
  const clientSecret = reader.secret('BOTSHELF_OAUTH_CLIENT_SECRET');
  if ([provider, issuer, idClaim, clientId, clientSecret].every((value) => value === undefined)) return null;

  const isDiscord = provider === 'discord';
  const isForOthers = 'is for another provider than Discord: leave out it or BOTSHELF_OAUTH_PROVIDER.';
  const isMissing = 'is not set: give what the provider shows for this service.';
  const found = [
    provider !== undefined &&
      !isDiscord &&
      `BOTSHELF_OAUTH_PROVIDER is ${JSON.stringify(provider)}: give "discord", or leave it out and set BOTSHELF_OAUTH_ISSUER to a provider of OpenID Connect.`,
    isDiscord && issuer !== undefined && `BOTSHELF_OAUTH_ISSUER ${isForOthers}`,
    isDiscord && issuer === undefined && idClaim !== undefined && `BOTSHELF_OAUTH_ID_CLAIM ${isForOthers}`,
    (provider ?? issuer) === undefined &&
      'BOTSHELF_OAUTH_PROVIDER is not set: give "discord", or set BOTSHELF_OAUTH_ISSUER, or leave out all of BOTSHELF_OAUTH_… for a service without a login.',
    issuer !== undefined &&
      !isIssuer(issuer) &&
      `BOTSHELF_OAUTH_ISSUER is ${JSON.stringify(issuer)}: give the provider's issuer, an address such as https://login.example.org (http only on this machine).`,
    idClaim !== undefined &&
      !/^[\w:./-]{1,100}$/.test(idClaim) &&
      `BOTSHELF_OAUTH_ID_CLAIM is ${JSON.stringify(idClaim)}: give the name of a claim, such as sub.`,
    clientId === undefined && `BOTSHELF_OAUTH_CLIENT_ID ${isMissing}`,
  ].filter((fault) => fault !== false);
  faults.push(...found);
  if (clientSecret === undefined) missing.push(`BOTSHELF_OAUTH_CLIENT_SECRET ${isMissing}`);
  if (clientId === undefined) return null;
  return {
    kind: issuer === undefined ? 'discord' : 'oidc',
    issuer: issuer ?? 'https://discord.com',
    clientId,
    // Without the secret, the doctor reads the provider's metadata, which any text suffices for.
    clientSecret: clientSecret ?? 'not set',
    idClaim: idClaim ?? 'sub',
  };
}

/** Reads the secrets that seal cookies, newest first, separated by commas or white space. Empty when none is set. */
export function readSecrets(reader: SettingReader): readonly string[] {
  const { faults } = reader;
  const secrets = (reader.secret('BOTSHELF_SECRET') ?? '').split(/[\s,]/).filter((secret) => secret !== '');
  if (secrets.some(({ length }) => length < minSecretLength)) {
    faults.push(
      `BOTSHELF_SECRET has a secret of fewer than ${minSecretLength} characters: make one with "openssl rand -hex 32".`,
    );
  }
  if (new Set(secrets).size < secrets.length) {
    faults.push('BOTSHELF_SECRET has a secret twice: give each once, the newest first.');
  }
  return secrets;
}

const minSecretLength = 32;

function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { search, hash, username } = new URL(text);
  return isSecureOrigin(text) && !search && !hash && !username;
}
