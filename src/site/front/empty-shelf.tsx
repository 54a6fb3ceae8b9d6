import type { VNode } from 'preact';

/** The drawing of a shelf with gaps. */
export function EmptyShelf(): VNode {
  return (
    <svg class="drawing" width="380" height="170" viewBox="0 0 380 170" aria-hidden="true">
      <g stroke="var(--plank)" stroke-width="3" stroke-linejoin="round">
        <path d="M18 60h26v109H18z" fill="oklch(72% 0.1 152)" />
        <path d="M44 40h34v129H44z" fill="oklch(76% 0.1 48)" />
        <path d="M78 74h22v95H78z" fill="oklch(74% 0.09 252)" />
        <path d="M44 66h34v26H44zM18 80h26M18 88h26" fill="var(--surface)" />
        <path d="M318 62l30 6-20 101h-30zM312 92l30 6" fill="oklch(74% 0.1 316)" />
      </g>
      <path
        class="gone"
        d="M122 169V91q0-12 12-12h66q12 0 12 12v78M236 169v-58q0-10 10-10h46q10 0 10 10v58"
      />
    </svg>
  );
}
