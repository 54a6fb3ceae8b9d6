import type { SettingReader } from '../lib/setting-reader.ts';

/** The shared repository that this clone keeps in step with. */
export interface RemoteSettings {
  /** A remote's name or URL, as git accepts it. */
  readonly remote: string;
  /** The branch there; null for the one with the name of the checked-out branch. */
  readonly branch: string | null;
  /** Fetches at least that often. */
  readonly syncSeconds: number;
  /** Pushes at most that often. */
  readonly pushSeconds: number;
  /** When the response to a post is sent: once the change is durable here, or once the remote has it. */
  readonly ack: 'local' | 'remote';
  /** The secret that the Git server signs its calls of `/hooks/push` with; null if there is no webhook. */
  readonly webhookSecret: string | null;
}

/** Reads the settings of the remote; null when none is set. */
export function readRemoteSettings(reader: SettingReader): RemoteSettings | null {
  const { faults } = reader;
  const name = reader.secret('BOTSHELF_REMOTE');
  const branch = reader.text('BOTSHELF_BRANCH') ?? null;
  const webhookSecret = reader.secret('BOTSHELF_WEBHOOK_SECRET') ?? null;
  const config = {
    remote: name ?? '',
    branch,
    syncSeconds: reader.integer('BOTSHELF_SYNC_SECONDS', 60, 1, 86400),
    pushSeconds: reader.integer('BOTSHELF_PUSH_SECONDS', 10, 0, 3600),
    ack: reader.choice('BOTSHELF_ACK', ['local', 'remote']) ?? 'local',
    webhookSecret,
  } as const;
  if (name?.startsWith('-'))
    faults.push("BOTSHELF_REMOTE begins with -: set it to a remote's name or an address.");
  if (branch !== null && !/^(?!-)[^\p{Cc} ~^:?*[\\]+$/u.test(branch))
    faults.push(`BOTSHELF_BRANCH is ${JSON.stringify(branch)}: set it to a branch's name such as main.`);
  if (webhookSecret !== null && webhookSecret.length < minWebhookSecretLength)
    faults.push(
      `BOTSHELF_WEBHOOK_SECRET has fewer than ${minWebhookSecretLength} characters: make one with "openssl rand -hex 32".`,
    );
  for (const needs of ['BOTSHELF_BRANCH', 'BOTSHELF_ACK', 'BOTSHELF_WEBHOOK_SECRET']) {
    if (name === undefined && reader.text(needs) !== undefined)
      faults.push(`${needs} is set, but BOTSHELF_REMOTE is not: set both, or neither.`);
  }
  return name === undefined ? null : config;
}

const minWebhookSecretLength = 16;
