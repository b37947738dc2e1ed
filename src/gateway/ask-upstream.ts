import { GatewayError } from '../canonical/error.ts'
import type { Gateway } from './gateway.ts'
import type { Target } from './route.ts'
import type { Listener, ResponseHeaders, UpstreamRequest } from './upstream.ts'

export interface UpstreamAnswer {
  status: number
  headers: ResponseHeaders
  body: Buffer
}

/** One small question to an upstream, answered whole. Rejects GatewayError when there is no answer. */
export function askUpstream(
  gateway: Gateway,
  target: Pick<Target, 'channel' | 'baseUrl'>,
  request: UpstreamRequest,
): Promise<UpstreamAnswer> {
  return new Promise((resolve, reject) => {
    let status = 0
    let headers: ResponseHeaders = {}
    let bytes = 0
    const chunks: Buffer[] = []
    const listener: Listener = {
      start(_call, startStatus, startHeaders) {
        status = startStatus
        headers = startHeaders
      },
      data(call, chunk) {
        bytes += chunk.length
        if (bytes <= gateway.bounds.watchedAnswerBytesMax) chunks.push(chunk)
        else
          call.abort(
            new GatewayError('upstream_error', `The upstream answered with more than ${bytes} bytes.`),
          )
      },
      end: () => resolve({ status, headers, body: Buffer.concat(chunks) }),
      fail: reject,
    }
    gateway.upstreams.call(target, request, listener)
  })
}
