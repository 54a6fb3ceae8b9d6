import type { Session } from '../../login/sessions.ts';
import type { Viewer } from '../page/layout.tsx';

/** Returns who is logged in, as pages show it: with the account's ID where the provider sent no name. */
export function toViewer({ id, name }: Session): Viewer {
  return { id, name: name ?? id };
}
