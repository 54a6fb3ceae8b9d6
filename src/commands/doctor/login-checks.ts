import { callbackPath, isSecureOrigin } from '../../login/settings.ts';
import { messageOf } from '../../lib/errors.ts';
import { type DoctorCheck, failure, fine } from './results.ts';

/** People can log in: the address allows secure cookies, and the provider's discovery document is there and valid. */
export const checkLogin: DoctorCheck = async ({ config: { login, baseUrl } }) => {
  if (login === null) return fine('none is set: the operator issues tokens');
  if (!isSecureOrigin(baseUrl))
    return failure(
      `${baseUrl} has no https, so cookies are not kept and nobody can log in`,
      'set BOTSHELF_BASE_URL to an address that begins with https://',
    );
  // Imported here only: it is the largest library of the program.
  const { Provider } = await import('../../login/provider.ts');
  const provider = new Provider(login, `${baseUrl}${callbackPath}`);
  try {
    await provider.begin();
  } catch (error) {
    return failure(
      `the discovery document of ${login.issuer} cannot be used (${messageOf(error)})`,
      'check BOTSHELF_OAUTH_ISSUER, the network and the clock',
    );
  }
  return fine(
    `${provider.name} has a valid discovery document; its redirect has to be ${baseUrl}${callbackPath}`,
  );
};
