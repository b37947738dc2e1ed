import { createServer, type IncomingMessage } from 'node:http'
import OpenAI, { toFile } from 'openai'
import type { Reached, Start } from '../support/bed.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { startVendor } from '../support/vendor/vendor.ts'

export const keys = {
  a: 'key-of-tenant-a-00000001',
  own: 'own-key-of-tenant-a-0001',
  /** A key of tenant a whose answers are kept. */
  keeps: 'keeping-key-of-tenant-a1',
  b: 'key-of-tenant-b-00000001',
  paid: 'paid-key-for-tests-0001',
}

export const upstreams = {
  'via-chat': 'openai-chat',
  'via-responses': 'openai-responses',
  'via-messages': 'anthropic-messages',
  'via-gemini': 'gemini',
} as const

export interface FilesBed<T extends Reached = Gateway> {
  tollgate: T
  database: Database
  /** The bodies that the strict vendor took, in order. */
  seen: string[]
  openai(key?: string): OpenAI
  /** Another process on the same database and directory. */
  startAnother(env?: Record<string, string>): Promise<T>
  close(): Promise<void>
}

/** Its processes are inside that of the test. */
export function startFilesBed(env?: Record<string, string>): Promise<FilesBed> {
  return makeFilesBed(startGateway, env)
}

/** A real Tollgate in front of the strict vendor, whose processes `startOne` starts. It sweeps often. */
export async function makeFilesBed<T extends Reached>(
  startOne: Start<T>,
  env: Record<string, string> = {},
): Promise<FilesBed<T>> {
  const [{ url: databaseUrl, drop }, vendor] = await Promise.all([freshDatabase(), startSeenVendor()])
  const database = openDatabase(databaseUrl)
  const gatewayYaml = yamlFor(vendor.url)
  const settings = { SHIP_INTERVAL_MS: '20', FILE_SWEEP_MS: '50', ...env }
  const tollgate = await startOne({ databaseUrl, gatewayYaml, env: settings })
  const others: T[] = []
  return {
    tollgate,
    database,
    seen: vendor.seen,
    openai: (key = keys.a) => new OpenAI({ baseURL: `${tollgate.url}/v1`, apiKey: key, maxRetries: 0 }),
    async startAnother(more = {}) {
      const { dataDir } = tollgate
      const other = await startOne({ databaseUrl, gatewayYaml, dataDir, env: { ...settings, ...more } })
      others.push(other)
      return other
    },
    async close() {
      await Promise.all([tollgate, ...others].map((each) => each.stop()))
      await vendor.close()
      await database.close()
      await drop()
    },
  }
}

/** The strict vendor, with the bodies that it is asked. */
async function startSeenVendor() {
  const vendor = await startVendor({ tokenDelayMs: 0 })
  const seen: string[] = []
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request)
    seen.push(body)
    const headers = Object.entries(request.headers).flatMap(([name, value]) =>
      typeof value === 'string' && !/^(host|connection|content-length|transfer-encoding)$/.test(name)
        ? [[name, value] as [string, string]]
        : [],
    )
    const answer = await fetch(`${vendor.url}${request.url}`, { method: 'POST', headers, body })
    const type = answer.headers.get('content-type') ?? 'application/json'
    response.writeHead(answer.status, { 'content-type': type }).end(await answer.text())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    seen,
    async close() {
      await new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      })
      await vendor.close()
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts).toString('utf8')
}

function yamlFor(origin: string): string {
  const bases = {
    'via-chat': `${origin}/v1`,
    'via-responses': `${origin}/v1`,
    'via-messages': origin,
    'via-gemini': `${origin}/v1beta`,
  }
  const models = Object.keys(upstreams) as (keyof typeof upstreams)[]
  const price = 'price: { input: "1000", output: "1" }'
  return `
models:
${models.map((model) => `  - { id: ${model}, context_length: 100000000, max_output_tokens: 100, ${price} }`).join('\n')}
channels:
${models
  .map(
    (model) =>
      `  - { name: ${model}, protocols: { ${upstreams[model]}: ${bases[model]} }, api_keys: [demo-credential-0001], models: { ${model}: demo-${model} }, allow_private_address: true, shared_state: allow }`,
  )
  .join('\n')}
groups:
  - { name: default, models: ['*'], channels: ['*'] }
tenants:
  - name: a
    keys:
      - { name: a, group: default, secret: ${keys.a} }
      - { name: own, group: default, secret: ${keys.own}, usage_scope: key }
      - { name: keeps, group: default, secret: ${keys.keeps}, responses: { store: true, days: 1 } }
  - { name: b, keys: [ { name: b, group: default, secret: ${keys.b} } ] }
  - { name: paid, balance_usd: "5.00", keys: [ { name: paid, group: default, secret: ${keys.paid} } ] }
`
}

export const pdf = Buffer.from(
  '%PDF-1.4\n1 0 obj << /Type /Catalog >> endobj\ntrailer << /Root 1 0 R >>\n%%EOF\n',
)
export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)
export const note = Buffer.from('A note with "quotes", a\nnew line and an umlaut: ü.\n')

export async function upload(client: OpenAI, bytes: Buffer, name: string): Promise<string> {
  const { id } = await client.files.create({ file: await toFile(bytes, name), purpose: 'user_data' })
  return id
}
