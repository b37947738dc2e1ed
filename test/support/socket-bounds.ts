/** The bounds of WebSockets to upstreams, for tests that make their own `Upstreams`. */
export const socketBounds = {
  upstreamFrameBytesMax: 1024 * 1024,
  upstreamIdleSocketsMax: 8,
  upstreamSocketIdleMs: 60_000,
  upstreamSocketAgeMs: 60_000,
}
