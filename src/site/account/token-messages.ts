/** The texts of a bot's token page. */
export const tokenMessages = {
  title: (bot: string) => `${bot}’s API token`,
  intro:
    'Your bot uses this token to post its server count and small edits. Anyone who has the token can do the same: keep it out of your code and your chats.',

  noLogin: 'Ask the operator for a token',
  operator: 'This site has no login. The operator issues a token with this command:',
  command: 'Command for the operator',

  visitor: 'Are you an author of this bot?',
  visitorText: 'Log in with an account that the bot’s file lists as an author to get the token.',
  logIn: (provider: string) => `Log in with ${provider}`,

  stranger: 'This account is not an author of this bot',
  strangerText: (name: string, id: string, bot: string) =>
    `You are logged in as ${name}, account ${id}. Only the authors of ${bot} can get its token; authors are listed in the bot’s file and can be changed by pull request.`,
  otherAccount: 'Log in with another account',

  current: 'Current token',
  none: 'This bot has no token.',
  issued: 'Issued',
  lastUsed: 'Last used',
  neverUsed: 'Never',
  stale: (provider: string) =>
    `To issue, replace or revoke a token, log in with ${provider} again. You then have ten minutes.`,
  logInAgain: 'Log in again',
  nothingDone: 'Nothing has changed: your login was more than ten minutes old.',

  issue: 'Issue a token',
  replace: 'Replace or revoke the token',
  replaceText: 'Both stop the current token immediately. Anything still using it will be refused.',
  regenerate: 'Regenerate',
  revoke: 'Revoke',
  revoked: 'The token is revoked. Nothing can be posted for this bot until you issue a new one.',
  nothingToRevoke: 'There was no token to revoke.',

  newToken: 'New token',
  newTokenText: 'Copy it now: you will not see it again. The previous token no longer works.',
  field: 'Token',
  copy: 'Copy',
  copied: 'Copied.',
  notShared:
    'The shared Git server cannot be reached. The change is in force on this server; other servers of this site get it when the Git server is back.',

  post: 'Use the token',
  postText:
    'Set the environment variable BOTSHELF_TOKEN of your bot to the token. Post every 30 minutes; status 200 means that the count is saved.',
} as const;
