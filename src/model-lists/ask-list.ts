import { GatewayError } from '../canonical/error.ts'
import { parseObject } from '../canonical/json.ts'
import type { ListedModel } from '../catalog/listed-models.ts'
import type { Channel } from '../catalog/snapshot.ts'
import { imageSide, upstreamSide } from '../protocols/index.ts'
import { type ModelListSide, modelListSides } from '../protocols/model-list.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
import { everyCredentialOf } from '../routing/credentials.ts'
import type { UpstreamCall, Upstreams } from '../upstream/upstreams.ts'

export interface ListBounds {
  /** For all pages together. */
  modelListMs: number
  /** Of all pages together. */
  modelListBytesMax: number
  modelListNamesMax: number
}

/** More pages than any list needs: a page has up to 1000 names. */
const pagesMax = 20

/**
 * A channel's own list of its models, in the first of its protocols that answers with one. `turn` chooses the credential.
 * Rejects GatewayError, without secrets, of the last protocol that was asked.
 */
export async function askList(
  upstreams: Pick<Upstreams, 'call'>,
  bounds: ListBounds,
  channel: Channel,
  turn: number,
): Promise<Map<string, ListedModel>> {
  const until = performance.now() + bounds.modelListMs
  let failure: unknown = new GatewayError(
    'upstream_error',
    'The channel speaks no protocol with lists of models.',
  )
  const asked = new Set<string>()
  for (const { protocol, side } of modelListSides) {
    const baseUrl = channel.protocols[protocol]
    const place = `${baseUrl} ${side.path(undefined)}`
    if (baseUrl === undefined || asked.has(place)) continue
    asked.add(place)
    try {
      return await readPages(upstreams, { ...bounds, until }, { channel, protocol, baseUrl, turn }, side)
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

interface Asked {
  channel: Channel
  protocol: ProtocolName
  baseUrl: string
  turn: number
}

type PageBounds = ListBounds & { until: number }

async function readPages(
  upstreams: Pick<Upstreams, 'call'>,
  bounds: PageBounds,
  asked: Asked,
  side: ModelListSide,
): Promise<Map<string, ListedModel>> {
  const found = new Map<string, ListedModel>()
  let bytesLeft = bounds.modelListBytesMax
  let cursor: string | undefined
  for (let page = 0; page < pagesMax; page++) {
    const body = await readPage(upstreams, asked, side.path(cursor), {
      until: bounds.until,
      bytesMax: bytesLeft,
    })
    bytesLeft -= body.length
    const json = parseObject(body.toString('utf8'))
    const read = json === undefined ? undefined : side.read(json)
    if (read === undefined)
      throw new GatewayError('upstream_error', 'The upstream answered with no list of models.')
    for (const model of read.models) {
      if (found.size >= bounds.modelListNamesMax) return found
      if (!found.has(model.name)) found.set(model.name, model)
    }
    // The same cursor again would lead in a circle.
    if (read.cursor === undefined || read.cursor === cursor) return found
    cursor = read.cursor
  }
  return found
}

function readPage(
  upstreams: Pick<Upstreams, 'call'>,
  { channel, protocol, baseUrl, turn }: Asked,
  path: string,
  { until, bytesMax }: { until: number; bytesMax: number },
): Promise<Buffer> {
  const credentials = everyCredentialOf(channel)
  const credential = credentials[turn % credentials.length] ?? { secret: '', name: '' }
  return new Promise((resolve, reject) => {
    let call: UpstreamCall | undefined
    let bytes = 0
    const chunks: Buffer[] = []
    const timer = setTimeout(() => call?.abort(tooSlow()), Math.max(0, until - performance.now()))
    const settle = (end: () => void) => {
      clearTimeout(timer)
      end()
    }
    call = upstreams.call(
      { channel, baseUrl, credential },
      { method: 'GET', path, body: null, stream: false, ...headersOf(protocol) },
      {
        start(upstream, status) {
          if (status !== 200)
            upstream.abort(new GatewayError('upstream_error', `The upstream answered with status ${status}.`))
        },
        data(upstream, chunk) {
          bytes += chunk.length
          if (bytes <= bytesMax) chunks.push(Buffer.from(chunk))
          else upstream.abort(new GatewayError('upstream_error', `The list has more than ${bytesMax} bytes.`))
        },
        end: () => settle(() => resolve(Buffer.concat(chunks))),
        fail: (error) => settle(() => reject(error)),
      },
    )
  })
}

function headersOf(protocol: ProtocolName) {
  if (protocol === 'openai-images') {
    return { headers: [], authHeaders: (secret: string) => imageSide(protocol)?.authHeaders(secret) ?? {} }
  }
  const { headers, authHeaders } = upstreamSide(protocol)
  return { headers: Object.entries(headers).flat(), authHeaders }
}

function tooSlow(): GatewayError {
  return new GatewayError('upstream_timeout', 'The list of models took too long.')
}
