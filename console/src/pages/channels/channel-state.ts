import type { Schema } from '../../api/client.ts'
import { moment } from '../../format/moments.ts'
import { duration } from '../../format/numbers.ts'
import type { Tone } from '../../parts/tone.ts'

type ChannelHealth = Schema<'Health'>['channels'][number]

/** How a channel is, in words, the worst first. */
export function stateOf(
  channel: Pick<Schema<'Channel'>, 'state' | 'blocked' | 'is_readable'>,
  health: Pick<ChannelHealth, 'breaker' | 'cooldowns' | 'recent' | 'credentials'> | undefined,
): { tone: Tone; words: string } {
  if (channel.blocked !== null) {
    const { at, by, reason } = channel.blocked
    return { tone: 'bad', words: `blocked since ${moment(new Date(at))} by ${by}: ${reason}` }
  }
  if (channel.state !== 'enabled') return { tone: 'quiet', words: channel.state }
  if (!channel.is_readable)
    return { tone: 'bad', words: 'left out: another SECRET_KEY has encrypted its secrets' }
  if (health === undefined) return { tone: 'info', words: 'enabled' }
  const { breaker, cooldowns, recent, credentials } = health
  if (breaker !== null)
    return { tone: breaker.state === 'open' ? 'bad' : 'warning', words: `breaker ${breaker.state}` }
  const cooled = new Set(cooldowns.map(({ credential }) => credential))
  if (cooled.size > 0) {
    const soonest = Math.min(...cooldowns.map(({ left_ms }) => left_ms))
    return {
      tone: cooled.size >= credentials ? 'bad' : 'warning',
      words: `${cooled.size} of ${credentials} credentials rest, the first for ${duration(soonest)} more`,
    }
  }
  if (recent.failed > 0) {
    return {
      tone: recent.failed * 2 >= recent.calls ? 'bad' : 'warning',
      words: `${recent.failed} of the last ${recent.calls} calls failed`,
    }
  }
  return { tone: 'good', words: recent.calls === 0 ? 'enabled' : 'answers well' }
}

/** Nothing that a list would have to say. */
export function isWell({ tone }: { tone: Tone }): boolean {
  return tone === 'good' || tone === 'info'
}
