import type { Session } from '../../login/sessions.ts';
import type { Viewer } from '../page/layout.tsx';

/** Who is logged in, as pages show them: by the account's id where the provider gave no name. */
export function viewerIn({ id, name }: Session): Viewer {
  return { id, name: name ?? id };
}
