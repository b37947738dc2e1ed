import type { Schema } from '../../api/client.ts'
import type { Tone } from '../../parts/tone.ts'

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

/**
 * In how many ms a list is read again: soon while a job of it is under way, and for new ones now and then.
 */
export function jobsAgainMs(jobs: readonly { status: string }[]): number {
  return jobs.some(({ status }) => isOpen(status)) ? 2_000 : 15_000
}

/**
 * What happens to a job and its money when it is cancelled: docs/reference/images.md,
 * docs/reference/endpoints.md.
 */
export function cancelWords(kind: 'image' | 'answer', { status }: { status: string }): string {
  if (status === 'queued') {
    return 'It still waits, so nothing was made of it. The money that it holds is given back, and it costs nothing.'
  }
  return kind === 'image'
    ? 'It ends within a second and delivers no image. Images of which its client got a preview are charged. Without previews it costs nothing, and the money that it holds is given back.'
    : 'It ends within a second. What the upstream has made of it so far is charged. The rest of the money that it holds is given back.'
}

/** A webhook in words. */
export function webhookWords(webhook: Schema<'AdminImageJob'>['webhook']): string {
  if (webhook === null) return 'none'
  const { status, tries } = webhook
  const times = tries === 1 ? '1 try' : `${tries} tries`
  if (status === 'delivered') return `delivered, after ${times}`
  return status === 'failed' ? `not delivered, after ${times}` : `under way, ${times} so far`
}

/** What was asked for, from the body that the log kept; undefined: it was not kept, or is not whole. */
export function promptOf(body: string | null): string | undefined {
  if (body === null) return undefined
  try {
    const read: unknown = JSON.parse(body)
    const prompt = typeof read === 'object' && read !== null && 'prompt' in read ? read.prompt : undefined
    return typeof prompt === 'string' ? prompt : undefined
  } catch {
    return undefined
  }
}
