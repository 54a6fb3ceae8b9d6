import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import { findHostName, guessGitHost } from '../../git/hosts.ts';
import { type Origin, parseRemote } from '../../git/hosts.ts';

/** Links to a Git host's pages about files of the catalogue, by path. */
export interface RepositoryLinks {
  /** What people call the host, such as GitHub; null if it is not known. */
  readonly host: string | null;
  /** The repository's own page. */
  readonly home: string;
  /** The editor of a file. No host takes a new text for it in the address. */
  edit(path: string): string;
  history(path: string): string;
  /** What a commit changes; null if the settings do not say. */
  commit(id: string): string | null;
  create(path: string, text: string): NewFileLink;
}

/** A page that creates a file. */
export interface NewFileLink {
  readonly href: string;
  /** Whether the page has the text of the file; not where the host takes none, or it is too long for an address. */
  readonly filled: boolean;
}

/** Returns the links for a remote on GitHub, GitLab, Forgejo or Gitea; null for any other. */
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

/** Returns the links that settings name. */
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

/** Characters. Git hosts refuse longer addresses. */
const maxLinkLength = 8000;

function encode(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}
