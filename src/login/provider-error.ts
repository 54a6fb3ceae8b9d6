import * as oauth from 'openid-client';
import { LoginError, type LoginErrorKind } from './login-error.ts';

/** Maps an error of the exchange with the provider `name` to a LoginError. */
export function toLoginError(error: unknown, name: string): LoginError {
  if (error instanceof LoginError) return error;
  const kind = classifyError(error);
  return new LoginError(kind, formatSentence(kind, name), { cause: error });
}

function classifyError(error: unknown): LoginErrorKind {
  if (error instanceof oauth.AuthorizationResponseError) return byRedirect[error.error] ?? 'misconfigured';
  if (error instanceof oauth.ResponseBodyError)
    return error.error === 'invalid_grant' ? 'stale' : 'misconfigured';
  if (error instanceof oauth.WWWAuthenticateChallengeError) return 'misconfigured';
  if (error instanceof oauth.ClientError) return byCode[error.code ?? ''] ?? 'unavailable';
  return 'unavailable';
}

/** By the error in the provider's redirect. */
const byRedirect: Readonly<Record<string, LoginErrorKind>> = {
  access_denied: 'denied',
  login_required: 'denied',
  interaction_required: 'denied',
  consent_required: 'denied',
  account_selection_required: 'denied',
  server_error: 'unavailable',
  temporarily_unavailable: 'unavailable',
};

/** By openid-client's code: the response is well-formed but does not match the request. */
const byCode: Readonly<Record<string, LoginErrorKind>> = {
  OAUTH_INVALID_RESPONSE: 'invalid-response',
  OAUTH_INVALID_REQUEST: 'invalid-response',
  OAUTH_JWT_CLAIM_COMPARISON_FAILED: 'invalid-response',
  OAUTH_JWT_TIMESTAMP_CHECK_FAILED: 'invalid-response',
  OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED: 'invalid-response',
  OAUTH_KEY_SELECTION_FAILED: 'invalid-response',
};

function formatSentence(kind: LoginErrorKind, name: string): string {
  switch (kind) {
    case 'unavailable':
      return `${name} does not respond correctly: try again in a minute`;
    case 'denied':
      return `${name} refused the login, or you cancelled it`;
    case 'stale':
      return 'this login was already used or took too long';
    case 'invalid-response':
      return `the response of ${name} does not match the request`;
    case 'misconfigured':
      return `${name} does not accept this service: tell its operator`;
    case 'no-account':
      return `${name} sent no account`;
    default:
      return kind satisfies never;
  }
}
