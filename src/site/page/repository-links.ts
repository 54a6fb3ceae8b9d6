import type { Origin } from '../../git/origin.ts';

/** Links to a Git host's pages about files of the catalogue, by path. */
export interface RepositoryLinks {
  /** The repository's own page. */
  readonly home: string;
  edit(path: string): string;
  history(path: string): string;
  /** A page that creates a file with this text; null where the host has none, or the text is too long for a link. */
  create(path: string, text: string): string | null;
}

/** Returns the links for a remote on GitHub, GitLab, Forgejo or Gitea; null for any other. */
export function repositoryLinks({ remote, branch, prefix }: Origin): RepositoryLinks | null {
  const place = webPlaceOf(remote);
  if (place === undefined) return null;
  const pages = pagesOf(place.host);
  if (pages === undefined) return null;
  const home = `https://${place.host}/${place.path}`;
  const at = (path: string): string => encode(prefix + path);
  return {
    home,
    edit: (path) => `${home}/${pages.edit(encode(branch))}/${at(path)}`,
    history: (path) => `${home}/${pages.history(encode(branch))}/${at(path)}`,
    create: (path, text) => {
      const query = pages.create?.(prefix + path, text);
      const link = query && `${home}/new/${encode(branch)}?${query.toString()}`;
      return link !== undefined && link.length <= longestLink ? link : null;
    },
  };
}

/** Characters. Git hosts refuse longer addresses. */
const longestLink = 8000;

/** The paths of a host's pages, below the repository's. */
interface HostPages {
  edit(branch: string): string;
  history(branch: string): string;
  readonly create?: (path: string, text: string) => URLSearchParams;
}

const github: HostPages = {
  edit: (branch) => `edit/${branch}`,
  history: (branch) => `commits/${branch}`,
  create: (path, text) => new URLSearchParams({ filename: path, value: text }),
};

const gitlab: HostPages = {
  edit: (branch) => `-/edit/${branch}`,
  history: (branch) => `-/commits/${branch}`,
};

const forgejo: HostPages = {
  edit: (branch) => `_edit/${branch}`,
  history: (branch) => `commits/branch/${branch}`,
};

/** Guesses a host's software from its name. */
function pagesOf(host: string): HostPages | undefined {
  if (/(^|\.)github\./.test(host)) return github;
  if (/(^|\.)gitlab\./.test(host)) return gitlab;
  if (/(^|\.)(forgejo|gitea|codeberg|git)\./.test(host)) return forgejo;
  return undefined;
}

/** Parses a remote into host and repository path, without user name, password, SSH port and `.git`. */
function webPlaceOf(remote: string): { readonly host: string; readonly path: string } | undefined {
  const [, scpHost, scpPath] = /^(?:[\w.-]+@)?([\w.-]+):(?!\/\/)(.+)$/.exec(remote) ?? [];
  const url = scpHost === undefined && URL.canParse(remote) ? new URL(remote) : undefined;
  if (url && !['https:', 'http:', 'ssh:', 'git:', 'git+ssh:'].includes(url.protocol)) return undefined;
  const host = scpHost ?? (url?.protocol.startsWith('http') ? url.host : url?.hostname);
  const path = (scpPath ?? url?.pathname ?? '').replace(/^\/+|(\.git)?\/*$/g, '');
  return host !== undefined && /^[\w.-]+(\/[\w.~-]+)+$/.test(path)
    ? { host: host.toLowerCase(), path }
    : undefined;
}

function encode(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}
