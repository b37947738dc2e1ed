import { z } from 'zod'
import type { Json } from '../../canonical/json.ts'
import { isRecord } from '../../canonical/json.ts'
import type { StoredChannel } from '../../catalog/change-entries.ts'
import { credentialNameOf } from '../../routing/credentials.ts'
import { etagOf } from './etag.ts'

export const managedBy = z
  .enum(['file', 'admin'])
  .describe('`file`: gateway.yaml manages it, and changes are made there.')

const credential = z
  .object({
    id: z.string().describe('The first 8 hex digits of its SHA-256, as attempts in the usage log name it.'),
    last_four: z.string().nullable().describe('Null where it is too short to show them.'),
  })
  .meta({ id: 'ChannelCredential' })

export const credentialList = z
  .object({ data: z.array(credential).describe('In the order of use.') })
  .meta({ id: 'ChannelCredentialList' })

/** A channel as the API shows it: the words of gateway.yaml without secrets, and its state. */
export const channelAnswer = z
  .object({
    id: z.uuid(),
    name: z.string(),
    state: z
      .enum(['enabled', 'disabled', 'deleted'])
      .describe('`deleted`: disabled, and its credentials are erased.'),
    managed_by: managedBy,
    protocols: z.record(z.string(), z.string()).describe('Base URL by protocol.'),
    vendor: z.string().nullable(),
    models: z
      .union([z.literal('*'), z.record(z.string(), z.unknown())])
      .describe('As in gateway.yaml: "*", or the upstream\'s name by model.'),
    traits: z.record(z.string(), z.unknown()).nullable(),
    priority: z.int(),
    weight: z.int(),
    allow_private_address: z.union([z.boolean(), z.array(z.string())]),
    shared_state: z
      .enum(['allow', 'own'])
      .nullable()
      .describe('Null: `allow` where one tenant alone reaches the channel, else `own`.'),
    concurrency: z.int().nullable(),
    images: z.object({ concurrency: z.int().nullable(), per_minute: z.int().nullable() }),
    plain_members: z
      .array(z.string())
      .describe('Members of requests for which its vendor adds no input that the body does not contain.'),
    timeouts: z.record(z.string(), z.int()),
    websocket: z.boolean().describe('Whether requests of `openai-responses` go by WebSocket.'),
    proxy: z.string().nullable().describe('Without its user and password.'),
    headers: z.array(z.string()).describe('Names of the extra headers. Their values are not shown.'),
    ca: z.string().nullable(),
    cert: z.string().nullable(),
    has_key: z.boolean().describe('Whether there is a key to the certificate. It is not shown.'),
    credentials: z.array(credential).describe('`api_keys`, in the order of use.'),
    is_readable: z
      .boolean()
      .describe('False: another SECRET_KEY has encrypted its secrets. Send api_keys and the others again.'),
  })
  .meta({ id: 'Channel' })

export function channelJson({ row, credentials, words }: StoredChannel): z.output<typeof channelAnswer> {
  const images = isRecord(words.images) ? words.images : {}
  const headers = row.connection?.headers
  return {
    id: row.id,
    name: row.name,
    state: row.disabledAt === null ? 'enabled' : credentials?.length === 0 ? 'deleted' : 'disabled',
    managed_by: row.managedBy,
    protocols: row.protocols,
    vendor: row.vendor,
    models: isRecord(words.models) ? words.models : '*',
    traits: isRecord(words.traits) ? words.traits : null,
    priority: row.priority,
    weight: row.weight,
    allow_private_address: row.privateAddresses ?? row.allowPrivateAddress,
    shared_state: row.sharedState,
    concurrency: row.concurrency,
    images: { concurrency: numberOf(images.concurrency), per_minute: numberOf(images.per_minute) },
    plain_members: row.plainMembers,
    timeouts: numbersOf(words.timeouts),
    websocket: row.connection?.websocket === true,
    proxy: typeof words.proxy === 'string' ? withoutCredentials(words.proxy) : null,
    headers: Array.isArray(headers) ? headers.map(String) : [],
    ca: pemOf(words.ca),
    cert: pemOf(words.cert),
    has_key: words.key !== undefined,
    credentials: credentialsJson(credentials ?? []),
    is_readable: credentials !== undefined,
  }
}

/**
 * Values of headers, the key of a certificate and the proxy's password are not shown: their sealed form is
 * new at each change.
 */
export function channelEtag(stored: StoredChannel): string {
  return etagOf(channelJson(stored), stored.row.connectionSealed?.toString('base64url') ?? null)
}

export function credentialsJson(credentials: readonly string[]): z.output<typeof credential>[] {
  return credentials.map((secret) => ({ id: credentialNameOf(secret), last_four: lastFour(secret) }))
}

/** Of a shorter secret, the last four characters would reveal too much. */
const shownFrom = 12

function lastFour(secret: string): string | null {
  return secret.length < shownFrom ? null : secret.slice(-4)
}

function withoutCredentials(text: string): string {
  const url = new URL(text)
  if (url.username !== '') url.username = '***'
  if (url.password !== '') url.password = '***'
  return url.href
}

function numbersOf(value: unknown): Record<string, number> {
  const all: Json = isRecord(value) ? value : {}
  return Object.fromEntries(Object.entries(all).map(([name, number]) => [name, Number(number)]))
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

function pemOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
