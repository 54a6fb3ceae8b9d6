/** The words of the pages about logging in. */
export const loginMessages = {
  again: 'Log in again',
  home: 'To the front page',
  errors: {
    away: { title: 'The login does not work now', retry: true },
    denied: { title: 'You are not logged in', retry: true },
    stale: { title: 'Please log in again', retry: true },
    distrusted: { title: 'You are not logged in', retry: true },
    misconfigured: { title: 'The login is not set up right', retry: false },
    'no-account': { title: 'This account cannot be used here', retry: true },
  },
} as const;
