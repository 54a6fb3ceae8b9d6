/** The words of the page of a bot's token. */
export const tokenMessages = {
  title: (bot: string) => `Token of ${bot}`,
  intro:
    'A bot posts how many servers it is in, and small edits, with its token. Whoever has the token can do so too: keep it out of your code and your chats.',

  noLogin: 'Ask the operator for it',
  operator: 'Nobody can log in here. Whoever runs this service gives a bot a new token with this command:',
  command: 'The operator’s command',

  visitor: 'Are you an author of this bot?',
  visitorText: 'Log in with the account that the bot’s file names as an author, and get its token here.',
  logIn: (provider: string) => `Log in with ${provider}`,

  stranger: 'This account is not among the authors',
  strangerText: (name: string, id: string, bot: string) =>
    `You are logged in as ${name}, account ${id}. Only the authors of ${bot} get its token; who they are stands in the bot’s file, and changes by pull request.`,
  otherAccount: 'Log in with another account',

  present: 'The present token',
  none: 'This bot has no token.',
  issued: 'Issued',
  lastUsed: 'Last used',
  neverUsed: 'never, as far as this service knows',
  stale: (provider: string) =>
    `To issue, replace or revoke it, log in with ${provider} again; that is good for ten minutes.`,
  logInAgain: 'Log in again',
  nothingDone: 'Nothing was done: your login was more than ten minutes old when you pressed the button.',

  issue: 'Issue a token',
  replace: 'Replace or revoke it',
  replaceText: 'Either ends the present token at once: what still posts with it is refused from then on.',
  regenerate: 'Regenerate',
  revoke: 'Revoke',
  revoked: 'The token has ended. Nothing can be posted for this bot until there is a new one.',
  nothingToRevoke: 'There was no token to end.',

  newToken: 'The new token',
  newTokenText:
    'It is shown this once and kept nowhere: copy it now. A token that the bot had before has ended.',
  field: 'Token',
  copy: 'Copy',
  copied: 'Copied.',
  notShared:
    'The shared Git server cannot be reached now. The change holds on this machine; if others serve this list too, they follow once the server is back.',

  post: 'Post with it',
  postText:
    'Put the token into the environment variable BOTSHELF_TOKEN of your bot. Every half hour is often enough; an answer of 200 means that the count is saved.',
} as const;
