import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { z } from 'zod'
import type { Actor } from '../../access/actor.ts'
import { writeAudit } from '../../access/audit-queries.ts'
import type { Identity } from '../../access/identity.ts'
import { readNamedKey } from '../../access/named-key-queries.ts'
import type { Database } from '../../db/database.ts'
import { calledOrigin, clientAddressOf } from '../../http/client-address.ts'
import { EventStream } from '../../http/event-stream.ts'
import { MemoryExchange } from '../../http/memory-exchange.ts'
import type { ImageGateway } from '../../images/image-gateway.ts'
import { images } from '../../images/images.ts'
import { booksWith } from '../../pipeline/books.ts'
import { chat } from '../../pipeline/chat.ts'
import { type ModelEndpoint, modelEndpoints } from '../../pipeline/endpoints.ts'
import { modelCharactersMax } from '../../protocols/model-name.ts'
import { redactText } from '../../redaction/redact.ts'
import { oneOfWords } from '../parameter.ts'
import { overheard, type WireListener, WireText } from '../playground/wires.ts'
import { type AdminEndpoint, adminEndpoint } from './endpoint.ts'
import { listedTenant } from './permit.ts'
import { notFound } from './refusals.ts'

export interface AdminPlaygroundContext extends ImageGateway {
  database: Database
}

const played = z
  .union([
    z.strictObject({ id: z.uuid() }),
    z.strictObject({
      name: z.string().min(1).max(256),
      tenant: z.string().min(1).max(256).describe("The tenant's name."),
    }),
  ])
  .describe('The key under which the request is made, by its id or by its name.')

const playRequest = z
  .strictObject({
    key: played,
    endpoint: oneOfWords(modelEndpoints.map(({ path }) => path)),
    request: z.looseObject({}).describe('The body, in the format of the endpoint.'),
  })
  .meta({ id: 'PlaygroundRequest' })

/** A request under a key, without the key's secret. */
export function adminPlaygroundEndpoint(context: AdminPlaygroundContext): AdminEndpoint {
  const { database, bounds } = context
  return adminEndpoint({
    method: 'POST',
    path: '/admin/v1/playground',
    area: 'playground',
    tenants: 'own',
    summary: 'Make a request under a key, and see what the client and the channel get',
    description:
      "A real request: it has a row, takes from the key's limits, and its cost is charged. Server-sent events, without secrets: `client.start`, `client.data`, `client.end` are what the client would get; `upstream.request`, `upstream.start`, `upstream.data`, `upstream.end` are each call to a channel, which members do not see; `end` has the id of the row.",
    body: playRequest,
    keepsDigits: true,
    media: 'text/event-stream',
    answer: z.object({}).loose().meta({ id: 'PlaygroundEvent' }),
    async handle({ actor, request, response, requestId, signal, body }) {
      const identity = await database.reads.ask(({ db }) => readNamedKey(db, body.key, listedTenant(actor)), {
        unavailable: 'The database is not responding at the moment. Try again.',
      })
      if (identity === undefined) throw notFound('such key')
      await noteRun(database, { actor, request, requestId }, identity, body)
      const stream = new EventStream(response, {}, bounds)
      const say = (event: string, data: object) =>
        void stream.send((write) => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`))
      try {
        await play(
          context,
          {
            ...{ endpoint: endpointAt(body.endpoint), request: body.request, signal },
            // The request comes from this process, wherever the admin is.
            identity: { ...identity, allowedCidrs: undefined },
            publicUrl: context.publicUrl ?? calledOrigin(request),
            wires: actor.tenantId === null ? toldTo(say) : silent,
          },
          say,
        )
      } catch (error) {
        if (!signal.aborted) say('error', { detail: error instanceof Error ? error.message : String(error) })
      } finally {
        await stream.end()
      }
      return undefined
    },
  })
}

type Say = (event: string, data: object) => void

const silent: WireListener = { request() {}, start() {}, data() {}, end() {} }

function toldTo(say: Say): WireListener {
  return {
    request: (attempt, request) => say('upstream.request', { attempt, ...request }),
    start: (attempt, status) => say('upstream.start', { attempt, status }),
    data: (attempt, text) => say('upstream.data', { attempt, text }),
    end: (attempt, error) => say('upstream.end', { attempt, error: error ?? null }),
  }
}

interface Play {
  endpoint: ModelEndpoint
  request: object
  signal: AbortSignal
  identity: Identity
  /** The origin of links to images. */
  publicUrl: string
  wires: WireListener
}

/**
 * Makes one request under a key. It is handled like any other: limits, money, routing, the row. Resolves when
 * the answer is complete. When the admin leaves, the request ends as when a client leaves. `wires` does not
 * see how a worker generates images.
 */
async function play(gateway: ImageGateway, play: Play, say: Say): Promise<void> {
  const { endpoint, identity, signal } = play
  // The secrets of the channels that were called, which no text may show.
  const secrets: string[] = []
  const upstreams = overheard(gateway.upstreams, play.wires, secrets)
  const caller = { identity, books: booksWith(gateway, { publicUrl: play.publicUrl, upstreams }) }
  const text = new WireText(secrets, (part) => say('client.data', { text: part }))
  let id: string | null = null
  let isWhole = true
  const exchange = new MemoryExchange(
    {
      method: 'POST',
      path: endpoint.path,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'tollgate-playground',
        ...(endpoint.protocol === 'anthropic-messages' ? { 'anthropic-version': '2023-06-01' } : {}),
      },
      body: Buffer.from(JSON.stringify(play.request)),
      clientAddress: '127.0.0.1',
    },
    {
      begin(status, headers) {
        id = textOf(headers['x-request-id'])
        say('client.start', {
          status,
          content_type: textOf(headers['content-type']),
          // An admin who leaves early finds the row by this id.
          request_id: id,
          headers: shownHeaders(headers, secrets),
        })
      },
      write(chunk) {
        text.add(chunk)
        return true
      },
      end(whole) {
        isWhole = whole
        text.end()
      },
    },
  )
  // A signal that has been aborted tells no one.
  signal.throwIfAborted()
  const leave = () => exchange.leave()
  signal.addEventListener('abort', leave, { once: true })
  const serve = endpoint.kind === 'image' ? images(gateway, endpoint) : chat(gateway, endpoint)
  await serve(exchange, caller)
  signal.removeEventListener('abort', leave)
  if (!isWhole) throw new Error('the answer was cut off')
  say('client.end', {})
  say('end', { request_id: id })
}

function endpointAt(path: string): ModelEndpoint {
  const found = modelEndpoints.find((endpoint) => endpoint.path === path)
  if (found === undefined) throw new Error(`${path} is not an endpoint`)
  return found
}

function textOf(header: OutgoingHttpHeaders[string]): string | null {
  return header === undefined ? null : String(header)
}

function shownHeaders(headers: OutgoingHttpHeaders, secrets: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, redactText(String(value), secrets)]),
  )
}

/** Checked before the request is made, because the request costs money. */
async function noteRun(
  database: Database,
  { actor, request, requestId }: { actor: Actor; request: IncomingMessage; requestId: string },
  { keyId, keyName, tenantId }: Identity,
  { endpoint, request: body }: { endpoint: string; request: Record<string, unknown> },
): Promise<void> {
  const model = typeof body.model === 'string' ? redactText(body.model, [], modelCharactersMax) : null
  const source = {
    actor,
    address: clientAddressOf(request),
    userAgent: request.headers['user-agent']?.slice(0, 512) ?? null,
    requestId,
  }
  await database.admin.transact((tx) =>
    writeAudit(tx, source, {
      action: 'playground.run',
      resource: 'key',
      id: keyId,
      name: keyName,
      tenantId,
      after: { endpoint, model },
    }),
  )
}
