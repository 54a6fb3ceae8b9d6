import type { Permission, PermissionGroup } from '../../bot/permissions.ts';

/** The texts about what an invite link asks for. */
export interface PermissionTexts {
  readonly title: string;
  readonly absent: string;
  readonly unreadable: string;
  readonly none: string;
  readonly administrator: string;
  readonly administratorMeans: string;
  readonly notAdministrator: string;
  /** For a link that adds commands and no bot. */
  readonly commandsOnly: string;
  readonly otherScopes: string;
  readonly source: string;
  readonly unknown: (bit: number) => string;
  readonly groups: Readonly<Record<PermissionGroup, string>>;
  readonly names: Readonly<Record<Permission, string>>;
}

export const permissionTexts: PermissionTexts = {
  title: 'Permissions it asks for',
  absent: 'Not stated in the invite link.',
  unreadable: 'The invite link states permissions that cannot be read.',
  none: 'None',
  administrator: 'Administrator',
  administratorMeans:
    'An administrator can do everything on your server, in every channel, whatever else you allow or deny.',
  notAdministrator: 'Does not ask for Administrator',
  commandsOnly: 'The invite link adds commands only: the bot does not join your server.',
  otherScopes: 'The invite link also asks for access to the account of the person who adds it:',
  source: 'Read from its invite link. You decide again before it joins.',
  unknown: (bit) => `Unknown permission (bit ${bit})`,
  groups: { server: 'Server', members: 'Members', messages: 'Messages', voice: 'Voice' },
  names: {
    manageServer: 'Change server settings',
    manageRoles: 'Manage roles',
    manageChannels: 'Manage channels',
    manageWebhooks: 'Manage webhooks',
    manageExpressions: 'Manage emoji, stickers and sounds',
    createExpressions: 'Add emoji, stickers and sounds',
    manageEvents: 'Manage events',
    createEvents: 'Create events',
    viewAuditLog: 'View the audit log',
    viewInsights: 'View server insights',
    viewMonetization: 'View monetization analytics',
    createInvite: 'Create invites',

    banMembers: 'Ban members',
    kickMembers: 'Kick members',
    timeOutMembers: 'Time out members',
    manageNicknames: 'Change the nicknames of others',
    muteMembers: 'Mute members in voice',
    deafenMembers: 'Deafen members in voice',
    moveMembers: 'Move members between voice channels',
    changeNickname: 'Change its own nickname',

    manageMessages: 'Delete the messages of others',
    manageThreads: 'Manage threads',
    mentionEveryone: 'Mention everyone and all roles',
    readAndSendMessages: 'Read and send messages',
    viewChannels: 'View channels',
    sendMessages: 'Send messages',
    readHistory: 'Read message history',
    embedLinks: 'Embed links',
    attachFiles: 'Attach files',
    addReactions: 'Add reactions',
    sendInThreads: 'Send messages in threads',
    createPublicThreads: 'Create public threads',
    createPrivateThreads: 'Create private threads',
    pinMessages: 'Pin messages',
    bypassSlowmode: 'Ignore slow mode',
    sendPolls: 'Create polls',
    sendVoiceMessages: 'Send voice messages',
    sendSpokenMessages: 'Send text-to-speech messages',
    useExternalEmoji: 'Use emoji of other servers',
    useExternalStickers: 'Use stickers of other servers',
    useCommands: 'Use application commands',
    useExternalApps: 'Use external apps',

    connectAndSpeak: 'Connect and speak in voice',
    connect: 'Connect to voice channels',
    speak: 'Speak in voice channels',
    prioritySpeaker: 'Be heard over others in voice',
    shareScreen: 'Share video and screen',
    useVoiceActivity: 'Use voice activity detection',
    requestToSpeak: 'Request to speak on a stage',
    setChannelStatus: 'Set the status of voice channels',
    useActivities: 'Start activities',
    useSoundboard: 'Use the soundboard',
    useExternalSounds: 'Use sounds of other servers',
  },
};
