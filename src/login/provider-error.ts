import * as oauth from 'openid-client';
import { LoginError, type LoginErrorKind } from './login-error.ts';

/** What the failure of a conversation with the provider `name` means to the one who logs in. */
export function loginErrorOf(error: unknown, name: string): LoginError {
  if (error instanceof LoginError) return error;
  const kind = kindOf(error);
  return new LoginError(kind, sentence(kind, name), { cause: error });
}

function kindOf(error: unknown): LoginErrorKind {
  if (error instanceof oauth.AuthorizationResponseError) return byAnswer[error.error] ?? 'misconfigured';
  if (error instanceof oauth.ResponseBodyError) {
    if (error.status >= 500) return 'away';
    return error.error === 'invalid_grant' ? 'stale' : 'misconfigured';
  }
  if (error instanceof oauth.WWWAuthenticateChallengeError) return 'misconfigured';
  if (error instanceof oauth.ClientError) return byCode[error.code ?? ''] ?? 'away';
  return 'away';
}

/** By the error that the provider sends people back with. */
const byAnswer: Readonly<Record<string, LoginErrorKind>> = {
  access_denied: 'denied',
  login_required: 'denied',
  interaction_required: 'denied',
  consent_required: 'denied',
  account_selection_required: 'denied',
  server_error: 'away',
  temporarily_unavailable: 'away',
};

/** By the code of openid-client: what is answered in form, but is not what was asked for. */
const byCode: Readonly<Record<string, LoginErrorKind>> = {
  OAUTH_INVALID_RESPONSE: 'distrusted',
  OAUTH_INVALID_REQUEST: 'distrusted',
  OAUTH_JWT_CLAIM_COMPARISON_FAILED: 'distrusted',
  OAUTH_JWT_TIMESTAMP_CHECK_FAILED: 'distrusted',
  OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED: 'distrusted',
  OAUTH_KEY_SELECTION_FAILED: 'distrusted',
};

function sentence(kind: LoginErrorKind, name: string): string {
  switch (kind) {
    case 'away':
      return `${name} does not answer as it should: try again in a minute`;
    case 'denied':
      return `${name} did not let you in, or you said no there`;
    case 'stale':
      return 'this login was used already or took too long';
    case 'distrusted':
      return `what came back is not what ${name} was asked for, so it is not trusted`;
    case 'misconfigured':
      return `${name} does not accept this service: tell the people who run it`;
    case 'no-account':
      return `${name} gives no account`;
    default:
      return kind satisfies never;
  }
}
