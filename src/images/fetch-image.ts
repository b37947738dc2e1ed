import { type GatewayError, gatewayError } from '../canonical/error.ts'
import { asGatewayError } from '../pipeline/ending.ts'
import type { Target } from '../routing/candidates.ts'
import { type ReceivedImage, receiveImage } from '../storage/receive.ts'
import type { UpstreamCall } from '../upstream/upstreams.ts'
import type { Generation } from './generation.ts'
import type { ImageGateway } from './image-gateway.ts'

/**
 * Stores an image to which an upstream returned a link, because that link may expire before ours. The host of
 * the link is subject to the same rules as the channel's own. Sends no credential and follows no redirects.
 * Rejects with `upstream_error` or `upstream_timeout`, or with `internal` if the image cannot be stored.
 */
export function fetchImage(
  gateway: ImageGateway,
  generation: Pick<Generation, 'running' | 'ended'>,
  { channel }: Pick<Target, 'channel'>,
  link: string,
): Promise<ReceivedImage> {
  if (!URL.canParse(link) || !/^https?:$/.test(new URL(link).protocol)) {
    return Promise.reject(failed('is not an http:// or https:// URL'))
  }
  const url = new URL(link)
  const receiver = receiveImage(gateway.images.storage, gateway.bounds.imageBytesMax)
  return new Promise((resolve, reject) => {
    let work: Promise<unknown> = Promise.resolve()
    let running: UpstreamCall | undefined
    let failure: GatewayError | undefined
    const end = (settle: () => void) => {
      if (running !== undefined) generation.running.delete(running)
      settle()
    }
    running = gateway.upstreams.call(
      { channel, credential: undefined, baseUrl: url.origin },
      {
        method: 'GET',
        path: url.pathname + url.search,
        body: null,
        stream: false,
        headers: [],
      },
      {
        start(upstream, status) {
          if (status !== 200) upstream.abort(failed(`responded with status ${status}`))
        },
        data(upstream, chunk) {
          upstream.pause()
          // Copy the chunk, because undici reuses its memory.
          const bytes = Buffer.from(chunk)
          work = work
            .then(() => receiver.write(bytes))
            .then(
              () => upstream.resume(),
              (error: unknown) => {
                failure ??= asGatewayError(error)
                upstream.resume()
                upstream.abort(failure)
              },
            )
        },
        end() {
          void work
            .then(() => {
              if (failure !== undefined) throw failure
              return receiver.finish()
            })
            .then(
              (image) => end(() => resolve(image)),
              (error: unknown) => end(() => reject(asGatewayError(error))),
            )
        },
        fail(error) {
          void work.then(async () => {
            await receiver.abandon().catch(() => {})
            end(() => reject(generation.ended ?? failure ?? error))
          })
        },
      },
    )
    generation.running.add(running)
  })
}

function failed(how: string): GatewayError {
  return gatewayError('upstream_image_link_failed', { how })
}
