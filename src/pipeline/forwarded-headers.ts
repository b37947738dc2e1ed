import type { Gateway } from './gateway.ts'
import type { Asked } from './read.ts'
import type { Received } from './received.ts'

/** The client headers that are passed on to a native channel: names and values alternate. */
export function forwardedHeaders(
  { deniedBetas }: Pick<Gateway, 'deniedBetas'>,
  { endpoint, exchange, kept }: Pick<Received, 'endpoint' | 'exchange'> & Pick<Asked, 'kept'>,
): readonly string[] {
  const { forwardedHeaders: names, featuresHeader, threadsFeature } = endpoint.client
  if (names.length === 0) return noHeaders
  const ofThreads = kept?.always === true ? threadsFeature : undefined
  const isDenied = (feature: string) =>
    deniedBetas.has(feature) || (ofThreads !== undefined && feature.startsWith(ofThreads))
  return names.flatMap((name) =>
    [exchange.headers[name] ?? []].flat().flatMap((value) => {
      const left = name === featuresHeader ? without(value, isDenied) : value
      return left === '' ? [] : [name, left]
    }),
  )
}

/** Returns the header unchanged, byte for byte, if it names no denied feature. */
function without(features: string, isDenied: (feature: string) => boolean): string {
  const listed = features.split(',').map((feature) => feature.trim())
  return listed.some(isDenied) ? listed.filter((feature) => !isDenied(feature)).join(',') : features
}

const noHeaders: readonly string[] = []
