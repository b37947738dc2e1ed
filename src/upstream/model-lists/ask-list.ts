import { GatewayError, gatewayError } from '../../canonical/error.ts'
import { parseObject } from '../../canonical/json.ts'
import type { ListedModel } from '../../catalog/listed-models.ts'
import type { Channel } from '../../catalog/snapshot.ts'
import { upstreamSide } from '../../protocols/index.ts'
import { type ModelListSide, modelListSides } from '../../protocols/model-list.ts'
import type { ProtocolName } from '../../protocols/protocol.ts'
import { messageIn } from '../../protocols/upstream-errors.ts'
import { redactText } from '../../redaction/redact.ts'
import { everyCredentialOf, secretsOf } from '../../routing/credentials.ts'
import type { UpstreamCall, Upstreams } from '../upstreams.ts'

export interface ListBounds {
  /** The timeout for all pages together. */
  modelListMs: number
  /** The limit for all pages together. */
  modelListBytesMax: number
  modelListNamesMax: number
}

/** An upstream's own list of models. */
export interface AskedList {
  protocol: ProtocolName
  models: Map<string, ListedModel>
  /** Whether the list contains more names than were read. */
  isCut: boolean
}

/** More pages than any list needs, since a page has up to 1000 names. */
const pagesMax = 20
/** How much of an error body is read. The message is at the start. */
const errorBytesMax = 16_384
const saidCharactersMax = 400

/**
 * Reads a channel's own list of models, in the first of its protocols that returns one. `turn` selects the
 * credential; `signal` cancels the call. Rejects with the GatewayError, without secrets, of the last protocol
 * that was tried; the error that there is no list is reported only if no other protocol has a more specific
 * one. Its `details.said` contains the upstream's message, its `upstreamStatus` the status.
 */
export async function askList(
  upstreams: Pick<Upstreams, 'call'>,
  bounds: ListBounds,
  channel: Channel,
  { turn, signal }: { turn: number; signal?: AbortSignal },
): Promise<AskedList> {
  const until = performance.now() + bounds.modelListMs
  let failure: unknown
  const asked = new Set<string>()
  for (const { protocol, side } of modelListSides) {
    const baseUrl = channel.protocols[protocol]
    const place = `${baseUrl} ${side.path(undefined)}`
    if (baseUrl === undefined || asked.has(place)) continue
    asked.add(place)
    try {
      const asked = { channel, protocol, baseUrl, turn, signal }
      return { protocol, ...(await readPages(upstreams, { ...bounds, until }, asked, side)) }
    } catch (error) {
      if (failure === undefined || !hasNoList(error)) failure = error
    }
  }
  throw failure ?? gatewayError('upstream_has_no_model_list')
}

/** Returns whether the upstream does not know the path. */
export function hasNoList(error: unknown): boolean {
  return error instanceof GatewayError && (error.upstreamStatus === 404 || error.upstreamStatus === 405)
}

interface Asked {
  channel: Channel
  protocol: ProtocolName
  baseUrl: string
  turn: number
  signal: AbortSignal | undefined
}

type PageBounds = ListBounds & { until: number }

async function readPages(
  upstreams: Pick<Upstreams, 'call'>,
  bounds: PageBounds,
  asked: Asked,
  side: ModelListSide,
): Promise<Omit<AskedList, 'protocol'>> {
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
    if (read === undefined) throw gatewayError('upstream_model_list_invalid')
    for (const model of read.models) {
      if (found.size >= bounds.modelListNamesMax) return { models: found, isCut: true }
      if (!found.has(model.name)) found.set(model.name, model)
    }
    // The same cursor again would cause an endless loop.
    if (read.cursor === undefined || read.cursor === cursor) return { models: found, isCut: false }
    cursor = read.cursor
  }
  return { models: found, isCut: true }
}

function readPage(
  upstreams: Pick<Upstreams, 'call'>,
  { channel, protocol, baseUrl, turn, signal }: Asked,
  path: string,
  { until, bytesMax }: { until: number; bytesMax: number },
): Promise<Buffer> {
  const credentials = everyCredentialOf(channel)
  const credential = credentials[turn % credentials.length] ?? { secret: '', name: '' }
  return new Promise((resolve, reject) => {
    let call: UpstreamCall | undefined
    let status = 200
    let bytes = 0
    const chunks: Buffer[] = []
    const timer = setTimeout(
      () => call?.abort(gatewayError('upstream_model_list_late')),
      Math.max(0, until - performance.now()),
    )
    const leave = () => call?.abort(gatewayError('upstream_call_abandoned'))
    const settle = (end: () => void) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', leave)
      end()
    }
    const refused = () => refusal(status, Buffer.concat(chunks), secretsOf({ channel, credential }))
    call = upstreams.call(
      { channel, baseUrl, credential, protocol },
      { method: 'GET', path, body: null, stream: false, headers: headersOf(protocol) },
      {
        start(_, itsStatus) {
          status = itsStatus
        },
        data(upstream, chunk) {
          bytes += chunk.length
          if (bytes <= (status === 200 ? bytesMax : errorBytesMax)) chunks.push(Buffer.from(chunk))
          else if (status === 200) upstream.abort(gatewayError('upstream_model_list_too_large', { bytesMax }))
          else upstream.abort(refused())
        },
        end: () => settle(() => (status === 200 ? resolve(Buffer.concat(chunks)) : reject(refused()))),
        fail: (error) => settle(() => reject(error)),
      },
    )
    signal?.addEventListener('abort', leave, { once: true })
    if (signal?.aborted === true) leave()
  })
}

function refusal(status: number, body: Buffer, secrets: readonly string[]): GatewayError {
  const text = body.toString('utf8').trim()
  // The error pages of web servers contain nothing that the status does not already say.
  const words = redactText(messageIn(body) ?? (text.startsWith('<') ? '' : text), secrets).replace(
    /\s+/g,
    ' ',
  )
  const said =
    words.length > saidCharactersMax ? `${words.slice(0, saidCharactersMax).toWellFormed()}…` : words
  const moved = status >= 300 && status <= 399 ? ', a redirect, which is not followed' : ''
  return gatewayError(
    'upstream_model_list_refused',
    { status, moved },
    { upstreamStatus: status, ...(said !== '' && { details: { said } }) },
  )
}

function headersOf(protocol: ProtocolName): string[] {
  return protocol === 'openai-images' ? [] : Object.entries(upstreamSide(protocol).headers).flat()
}
