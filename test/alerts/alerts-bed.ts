import { createHmac, randomUUID } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { z } from 'zod'
import type { Actor } from '../../src/access/actor.ts'
import { alertWebhook } from '../../src/alerts/alert-webhook.ts'
import { listDueMessages } from '../../src/alerts/episode-queries.ts'
import { evaluateRules } from '../../src/alerts/evaluate.ts'
import { alertEpisodesEndpoints } from '../../src/api/admin/alert-episodes.ts'
import { adminAlertsEndpoints } from '../../src/api/admin/alerts.ts'
import { readConfig } from '../../src/config/config.ts'
import { openDatabase } from '../../src/db/database.ts'
import { SecretKeeper } from '../../src/secrets/secret-key.ts'
import { makeLog } from '../../src/telemetry/log.ts'
import { alertRunner, queueIdOf } from '../../workers/deliver-alert.ts'
import { applyYaml } from '../support/apply-yaml.ts'
import { freshDatabase, openDatabase as openPlain } from '../support/database.ts'
import { operator, serveAdmin } from '../support/serve-admin.ts'

export function memberOf(tenantId: string): Actor {
  const id = randomUUID()
  return { kind: 'user', id, userId: id, name: 'a member', role: 'member', tenantId, scopes: undefined }
}

export const secretKey = 'a-secret-key-for-tests-and-nothing-else'

const yaml = `
models: [ { id: words } ]
channels:
  - { name: eu, protocols: { openai-chat: "http://eu.invalid/v1" }, api_keys: [ "" ], models: [ words ] }
groups:
  - { name: default, models: ['*'], channels: ['*'], budget: { day: "10" } }
tenants:
  - name: acme
    balance_usd: "20"
    keys: [ { name: one, group: default, secret: a-key-for-tests-of-acme-1, budget: { month: "1" } } ]
  - name: other
    balance_usd: "1"
    keys: [ { name: two, group: default, secret: a-key-for-tests-of-other-2, budget: { month: "1" } } ]
`

export interface Delivery {
  path: string
  headers: IncomingHttpHeaders
  text: string
  /** Throws if it is not of our own shape. */
  readonly body: z.output<typeof alertWebhook>
}

/** A receiver of webhooks. Tests set how it answers; with the status 0 it never does. */
export async function startReceiver() {
  const deliveries: Delivery[] = []
  const answers = { status: 200, text: 'heard' }
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const text = Buffer.concat(parts).toString()
    deliveries.push({
      path: request.url ?? '',
      headers: request.headers,
      text,
      get body() {
        return alertWebhook.parse(JSON.parse(text))
      },
    })
    if (answers.status !== 0) response.writeHead(answers.status).end(answers.text)
  })
  await listening(server)
  return {
    origin: `http://127.0.0.1:${portOf(server)}`,
    deliveries,
    answers,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** The API and the evaluation in this process, on a real database. */
export async function startAlertsBed(privateWebhooks = true) {
  const { url, drop } = await freshDatabase()
  const plain = openPlain(url)
  const keeper = new SecretKeeper(secretKey)
  await applyYaml(plain, yaml, keeper)
  const { bounds } = readConfig({ WEBHOOK_BACKOFF_MS: '1', ALERT_TENANT_RULES_MAX: '50' })
  const database = openDatabase(url, bounds)
  const log = makeLog('silent')
  const context = {
    database,
    bounds,
    log,
    publicUrl: 'https://llm.example/',
    privateWebhooks,
    alertCipher: {
      seal: (text: string, id: string) => keeper.seal('alertWebhook', text, id),
      open: (sealed: Buffer, id: string) => keeper.open('alertWebhook', sealed, id).toString('utf8'),
    },
  }
  const acting = { actor: operator }
  const endpoints = [...alertEpisodesEndpoints(context), ...adminAlertsEndpoints(context)]
  const server = await serveAdmin(context, endpoints, () => acting.actor)
  const run = alertRunner(context)

  return {
    url,
    database,
    context,
    sql: plain.sql,
    acting,
    /** Call the API below `/admin/v1/alerts`, as `acting.actor`. */
    async call(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
      const answer = await fetch(`${server.url}/admin/v1/alerts${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const json = z.record(z.string(), z.unknown()).parse(await answer.json())
      return { status: answer.status, headers: answer.headers, json }
    },
    evaluate: () => evaluateRules(context),
    /** Make all messages due. The column has milliseconds, to which `now()` would be rounded: up, half of the time. */
    async makeDue(): Promise<void> {
      await plain.sql`UPDATE alert_messages SET due_at = now() - interval '1 second'`
    },
    /** Send all messages that are due, as the queue does. */
    async deliver(): Promise<void> {
      for (const key of await database.jobs.ask(({ db }) => listDueMessages(db))) await run(queueIdOf(key))
    },
    async idOf(table: 'tenants' | 'keys' | 'key_groups' | 'channels', name: string): Promise<string> {
      const [row] = await plain.sql<{ id: string }[]>`SELECT id FROM ${plain.sql(table)} WHERE name = ${name}`
      if (row === undefined) throw new Error(`no ${table} ${name}`)
      return row.id
    },
    async close() {
      server.close()
      await database.close()
      await plain.close()
      await drop()
    },
  }
}

export type AlertsBed = Awaited<ReturnType<typeof startAlertsBed>>

/** The signature of a delivery by this secret. */
export function signatureBy(secret: unknown, { headers, text }: Delivery): string {
  const key = Buffer.from(String(secret).slice('whsec_'.length), 'base64')
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
}

/** A row of the usage log, of this moment unless said otherwise. */
export function requestRow(changes: Record<string, unknown> & { at?: number } = {}) {
  const { at = Date.now(), ...columns } = changes
  const hex = at.toString(16).padStart(12, '0')
  return {
    id: `${hex.slice(0, 8)}-${hex.slice(8)}-7${randomUUID().slice(15)}`,
    created_at: new Date(at),
    endpoint: '/v1/chat/completions',
    requested_model: 'words',
    channel: 'eu',
    stream: false,
    status: 200,
    outcome: 'succeeded',
    usage_source: 'none',
    attempt_count: 1,
    total_ms: 100,
    ...columns,
  }
}

function listening(server: Server): Promise<unknown> {
  server.listen(0, '127.0.0.1')
  return new Promise((resolve) => server.once('listening', resolve))
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
