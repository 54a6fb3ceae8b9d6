import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import type { Origin } from '../../git/branch/clone.ts';
import { findHostName, guessGitHost, parseRemote } from '../../git/hosts.ts';

/** Links to a Git host's pages about files of the catalogue, by path. */
export interface RepositoryLinks {
  /** The name of the host, such as GitHub; null if unknown. */
  readonly host: string | null;
  /** The page of the repository. */
  readonly home: string;
  /** Returns the editor of a file. Hosts do not accept a new text in its address. */
  edit(path: string): string;
  history(path: string): string;
  /** Returns the page of a commit; null if the settings do not have one. */
  commit(id: string): string | null;
  create(path: string, text: string): NewFileLink;
}

/** A page that creates a file. */
export interface NewFileLink {
  readonly href: string;
  /** Whether the page already has the text of the file: not if the host does not accept one, or it is too long for an address. */
  readonly filled: boolean;
}

/** Returns the links for a remote on GitHub, GitLab, Forgejo or Gitea; null for other hosts. */
export function createRepositoryLinks({ remote, branch, prefix }: Origin): RepositoryLinks | null {
  const place = parseRemote(remote);
  if (place === undefined) return null;
  const host = guessGitHost(place.host);
  if (host === undefined) return null;
  const home = `https://${place.host}/${place.path}`;
  const at = (path: string): string => encode(prefix + path);
  return {
    host: findHostName(place.host),
    home,
    edit: (path) => `${home}/${host.edit}/${encode(branch)}/${at(path)}`,
    history: (path) => `${home}/${host.history}/${encode(branch)}/${at(path)}`,
    commit: (id) => `${home}/${host.commit}/${id}`,
    create: (path, text) => {
      const page = (query: Record<string, string>): string =>
        `${home}/${host.create}/${encode(branch)}?${new URLSearchParams(query).toString()}`;
      const name = { [host.fileName]: prefix + path };
      const filled = page({ ...name, value: text });
      const fits = host.takesText && filled.length <= maxLinkLength;
      return { href: fits ? filled : page(name), filled: fits };
    },
  };
}

/** Returns the links of the settings. */
export function createNamedLinks(named: NonNullable<CatalogueSettings['repository']>): RepositoryLinks {
  const { home, edit, new: create, history } = named;
  return {
    host: findHostName(new URL(home).hostname),
    home,
    edit: (path) => withPath(edit, path),
    history: (path) => withPath(history, path),
    commit: () => null,
    create: (path) => ({ href: withPath(create, path), filled: false }),
  };
}

function withPath(address: string, path: string): string {
  return address.replaceAll('{path}', () => encode(path));
}

/** In characters. Git hosts refuse longer addresses. */
const maxLinkLength = 8000;

function encode(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}
