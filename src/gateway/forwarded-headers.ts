import type { Gateway } from '../stages/gateway.ts'
import type { Received } from '../stages/received.ts'

/** The client's headers that a native channel gets: names and values in turn. */
export function forwardedHeaders(
  { deniedBetas }: Pick<Gateway, 'deniedBetas'>,
  { endpoint, request }: Pick<Received, 'endpoint' | 'request'>,
): readonly string[] {
  const { forwardedHeaders: names, featuresHeader } = endpoint.client
  if (names.length === 0) return noHeaders
  return names.flatMap((name) =>
    [request.headers[name] ?? []].flat().flatMap((value) => {
      const kept = name === featuresHeader ? withoutDenied(value, deniedBetas) : value
      return kept === '' ? [] : [name, kept]
    }),
  )
}

/** Returns the header unchanged, byte for byte, if it names no denied feature. */
function withoutDenied(features: string, denied: ReadonlySet<string>): string {
  const listed = features.split(',').map((feature) => feature.trim())
  return listed.some((feature) => denied.has(feature))
    ? listed.filter((feature) => !denied.has(feature)).join(',')
    : features
}

const noHeaders: readonly string[] = []
