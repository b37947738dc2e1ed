import type { Channel } from '../catalog/snapshot.ts'

export interface UpstreamBounds {
  upstreamConnectMs: number
  upstreamFirstByteMs: number
  upstreamIdleMs: number
  upstreamTotalMs: number
}

/** Returns the timeouts for a channel's calls: its own, limited by those of the process. */
export function timeoutsOf(
  { connection }: Pick<Channel, 'connection'>,
  bounds: UpstreamBounds,
): UpstreamBounds {
  const own = connection?.timeouts
  if (own === undefined) return bounds
  const least = (ms: number | undefined, most: number) => Math.min(ms ?? most, most)
  return {
    upstreamConnectMs: least(own.connectMs, bounds.upstreamConnectMs),
    upstreamFirstByteMs: least(own.firstByteMs, bounds.upstreamFirstByteMs),
    upstreamIdleMs: least(own.idleMs, bounds.upstreamIdleMs),
    upstreamTotalMs: least(own.totalMs, bounds.upstreamTotalMs),
  }
}
