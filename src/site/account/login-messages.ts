/** The texts of the pages about logging in. */
export const loginMessages = {
  again: 'Log in again',
  home: 'Go to the front page',
  errors: {
    away: { title: 'Login is not available', retry: true },
    denied: { title: 'You are not logged in', retry: true },
    stale: { title: 'Please log in again', retry: true },
    distrusted: { title: 'You are not logged in', retry: true },
    misconfigured: { title: 'Login is not set up correctly', retry: false },
    'no-account': { title: 'You cannot log in with this account', retry: true },
  },
} as const;
