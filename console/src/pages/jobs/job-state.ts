import type { Tone } from '../../parts/tones.ts'

/** How jobs are shown: by the word, and by its tone. */
export const jobTones: Readonly<Record<string, Tone>> = {
  queued: 'quiet',
  running: 'info',
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'quiet',
}

/** It can still be cancelled. */
export function isOpen(status: string): boolean {
  return status === 'queued' || status === 'running'
}

/** Whether the pages' policy lets a picture show: it must come from this gateway. */
export function isShown(url: string): boolean {
  return new URL(url, window.location.origin).origin === window.location.origin
}
