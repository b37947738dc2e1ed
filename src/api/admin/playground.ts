import { request as httpRequest, type IncomingMessage } from 'node:http'
import { z } from 'zod'
import type { Actor } from '../../access/actor.ts'
import { writeAudit } from '../../access/audit-queries.ts'
import type { Identity } from '../../access/identity.ts'
import { readNamedKey } from '../../access/named-key-queries.ts'
import type { Database } from '../../db/database.ts'
import { calledOrigin, clientAddressOf } from '../../http/client-address.ts'
import { EventStream } from '../../http/event-stream.ts'
import type { ImageGateway } from '../../images/image-gateway.ts'
import { modelCharactersMax } from '../../protocols/model-name.ts'
import { redactText } from '../../redaction/redact.ts'
import { modelEndpoints } from '../../stages/endpoints.ts'
import { oneOfWords } from '../parameter.ts'
import { type PlayServer, startPlayServer } from '../playground/play-server.ts'
import { type WireListener, WireText } from '../playground/wires.ts'
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
        unavailable: 'The database does not answer at the moment. Try again.',
      })
      if (identity === undefined) throw notFound('such key')
      await noteRun(database, { actor, request, requestId }, identity, body)
      const stream = new EventStream(response, {}, bounds)
      const say = (event: string, data: object) =>
        void stream.send((write) => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`))
      const server = await startPlayServer(
        context,
        identity,
        context.publicUrl ?? calledOrigin(request),
        actor.tenantId === null ? toldTo(say) : silent,
      )
      try {
        await play(server, { ...body, signal }, say)
      } catch (error) {
        if (!signal.aborted) say('error', { detail: error instanceof Error ? error.message : String(error) })
      } finally {
        await stream.end()
        await server.close()
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

/**
 * Resolves when the answer is complete. When the admin leaves, the request ends as for a client that leaves.
 */
async function play(
  { origin, key, secrets }: PlayServer,
  { endpoint, request, signal }: { endpoint: string; request: object; signal: AbortSignal },
  say: Say,
): Promise<void> {
  const answer = await ask(`${origin}${endpoint}`, {
    key,
    body: Buffer.from(JSON.stringify(request)),
    isMessages: endpoint === '/v1/messages',
    signal,
  })
  const id = answer.headers['x-request-id'] ?? null
  say('client.start', {
    status: answer.statusCode ?? 0,
    content_type: answer.headers['content-type'] ?? null,
    // Who leaves in the middle finds the row by it.
    request_id: id,
    headers: shownHeaders(answer, secrets),
  })
  const text = new WireText(secrets, (part) => say('client.data', { text: part }))
  for await (const part of answer) text.add(part)
  text.end()
  say('client.end', {})
  say('end', { request_id: id })
}

function shownHeaders({ headers }: IncomingMessage, secrets: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, redactText(String(value), secrets)]),
  )
}

function ask(
  url: string,
  { key, body, isMessages, signal }: { key: string; body: Buffer; isMessages: boolean; signal: AbortSignal },
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': body.length,
      'user-agent': 'tollgate-playground',
      ...(isMessages ? { 'anthropic-version': '2023-06-01' } : {}),
    }
    httpRequest(url, { method: 'POST', headers, signal, agent: false }, resolve)
      .once('error', reject)
      .end(body)
  })
}

/** Before the request is made: it costs money. */
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
