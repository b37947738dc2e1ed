import type { Schema } from '../../api/client.ts'
import { moment } from '../../format/moments.ts'
import { count, duration } from '../../format/numbers.ts'
import type { Tone } from '../../parts/tone.ts'

type ChannelHealth = Schema<'Health'>['channels'][number]

/** How a channel is, in words, the worst first. */
export function stateOf(
  channel: Pick<Schema<'Channel'>, 'state' | 'blocked' | 'is_readable'>,
  health:
    | Pick<ChannelHealth, 'breaker' | 'refused' | 'silent' | 'cooldowns' | 'recent' | 'credentials'>
    | undefined,
): { tone: Tone; words: string } {
  if (channel.blocked !== null) {
    const { at, by, reason } = channel.blocked
    return { tone: 'bad', words: `blocked since ${moment(new Date(at))} by ${by}: ${reason}` }
  }
  if (channel.state !== 'enabled') return { tone: 'quiet', words: channel.state }
  if (!channel.is_readable)
    return { tone: 'bad', words: 'left out: another SECRET_KEY has encrypted its secrets' }
  if (health === undefined) return { tone: 'info', words: 'enabled' }
  const { breaker, refused, silent, cooldowns, recent, credentials } = health
  if (breaker !== null)
    return { tone: breaker.state === 'open' ? 'bad' : 'warning', words: `breaker ${breaker.state}` }
  if (refused !== null) return { tone: 'bad', words: refusedWords(credentials) }
  if (silent !== null) return { tone: 'warning', words: `does not answer: ${waitingWords(silent)}` }
  const cooled = new Set(cooldowns.map(({ credential }) => credential))
  if (cooled.size > 0) {
    const soonest = Math.min(...cooldowns.map(({ left_ms }) => left_ms))
    return {
      tone: cooled.size >= credentials ? 'bad' : 'warning',
      words: `${cooled.size} of ${credentials} credentials rest, the first for ${duration(soonest)} more`,
    }
  }
  if (recent.answers_again_since !== null)
    return { tone: 'good', words: `answers again since ${moment(new Date(recent.answers_again_since))}` }
  if (recent.failed > 0) {
    return {
      tone: recent.failed * 2 >= recent.calls ? 'bad' : 'warning',
      words: `${recent.failed} of the last ${recent.calls} calls failed`,
    }
  }
  return { tone: 'good', words: recent.calls === 0 ? 'enabled' : 'answers well' }
}

/** `the vendor refuses its only credential` */
export function refusedWords(credentials: number): string {
  return `the vendor refuses ${credentials <= 1 ? 'its only credential' : `all of its ${credentials} credentials`}`
}

/** `73 requests wait for its answer, the oldest for 55 s` */
export function waitingWords({ waiting, oldest_ms }: NonNullable<ChannelHealth['silent']>): string {
  if (waiting === 0 || oldest_ms === null) return 'clients gave up waiting for its answer'
  const requests = waiting === 1 ? '1 request waits' : `${count(waiting)} requests wait`
  return `${requests} for its answer, the oldest for ${duration(oldest_ms)}`
}

/** Nothing that a list would have to say. */
export function isWell({ tone }: { tone: Tone }): boolean {
  return tone === 'good' || tone === 'info'
}
