import { z } from 'zod'
import type { Json } from '../../canonical/json.ts'
import { isRecord } from '../../canonical/json.ts'
import type { StoredChannel } from '../../catalog/change-entries.ts'
import type { ChannelRow } from '../../catalog/queries.ts'
import { settingsOfChannels } from '../../db/settings/channel-settings.ts'
import { hidden } from '../../db/settings/connection-settings.ts'
import { jsonOf, membersOf } from '../../db/settings/setting.ts'
import { credentialNameOf } from '../../routing/credentials.ts'
import { etagOf } from './etag.ts'

export const managedBy = z
  .enum(['file', 'admin'])
  .describe('`file`: managed by gateway.yaml, where changes must be made.')

const credential = z
  .object({
    id: z.string().describe('The first 8 hex digits of the SHA-256, as in the attempts of the usage log.'),
    last_four: z.string().nullable().describe('Null if the credential is too short to show them.'),
  })
  .meta({ id: 'ChannelCredential' })

export const credentialList = z
  .object({ data: z.array(credential).describe('The credentials in the order of use.') })
  .meta({ id: 'ChannelCredentialList' })

/**
 * A channel as shown by the API: its settings in the format of gateway.yaml, without secrets, and its state.
 */
export const channelAnswer = z
  .object({
    id: z.uuid(),
    name: z.string(),
    state: z
      .enum(['enabled', 'disabled', 'deleted'])
      .describe('`deleted`: disabled, with its credentials erased.'),
    managed_by: managedBy,
    blocked: z
      .object({
        at: z.iso.datetime(),
        by: z.string().describe('The name of the person who blocked it, at that time.'),
        reason: z.string(),
      })
      .nullable()
      .describe(
        'Set while a person has blocked the channel, whatever its state. Only a person can lift it: no file does.',
      ),
    protocols: z.record(z.string(), z.string()).describe('The base URL of each protocol.'),
    vendor: z.string().nullable(),
    models: z
      .union([z.literal('*'), z.record(z.string(), z.unknown())])
      .describe('As in gateway.yaml: "*", or a map from model to the upstream\'s name.'),
    traits: z.record(z.string(), z.unknown()).nullable(),
    ...membersOf(settingsOfChannels, 'shown'),
    auth: z
      .record(z.string(), z.string())
      .describe('How requests prove whose they are. Empty: with the credential in the header of the format.'),
    timeouts: z.record(z.string(), z.int()),
    websocket: z
      .boolean()
      .describe('Whether requests in the format `openai-responses` are sent over WebSocket.'),
    proxy: z.string().nullable().describe('The URL of the proxy, without its user and password.'),
    headers: z.array(z.string()).describe('The names of the additional headers. Their values are not shown.'),
    ca: z.string().nullable(),
    cert: z.string().nullable(),
    has_key: z.boolean().describe('Whether there is a private key for the certificate, which is not shown.'),
    credentials: z.array(credential).describe('The `api_keys`, in the order of use.'),
    is_readable: z
      .boolean()
      .describe(
        'False if the secrets were encrypted with another SECRET_KEY. Send api_keys and the other secrets again.',
      ),
  })
  .meta({ id: 'Channel' })

export function channelJson({ row, credentials, words }: StoredChannel): z.output<typeof channelAnswer> {
  const headers = row.connection?.headers
  return {
    id: row.id,
    name: row.name,
    state: row.disabledAt === null ? 'enabled' : credentials?.length === 0 ? 'deleted' : 'disabled',
    managed_by: row.managedBy,
    blocked: blockJson(row),
    protocols: row.protocols,
    vendor: row.vendor,
    models: isRecord(words.models) ? words.models : '*',
    traits: isRecord(words.traits) ? words.traits : null,
    ...jsonOf(settingsOfChannels, row),
    auth: textsOf(words.auth),
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

function blockJson({
  blockedAt,
  blockedBy,
  blockReason,
}: ChannelRow): z.output<typeof channelAnswer>['blocked'] {
  if (blockedAt === null) return null
  return { at: blockedAt.toISOString(), by: blockedBy ?? '', reason: blockReason ?? '' }
}

/**
 * Includes the sealed form, which is new after each change, because the values of headers, the key of the
 * certificate and the proxy's password are not shown.
 */
export function channelEtag(stored: StoredChannel): string {
  return etagOf(channelJson(stored), stored.row.connectionSealed?.toString('base64url') ?? null)
}

export function credentialsJson(credentials: readonly string[]): z.output<typeof credential>[] {
  return credentials.map((secret) => ({ id: credentialNameOf(secret), last_four: lastFour(secret) }))
}

/** Four characters of a shorter secret would reveal too much. */
const shownFrom = 12

function lastFour(secret: string): string | null {
  return secret.length < shownFrom ? null : secret.slice(-4)
}

function withoutCredentials(text: string): string {
  const url = new URL(text)
  if (url.username !== '') url.username = hidden
  if (url.password !== '') url.password = hidden
  return url.href
}

function numbersOf(value: unknown): Record<string, number> {
  const all: Json = isRecord(value) ? value : {}
  return Object.fromEntries(Object.entries(all).map(([name, number]) => [name, Number(number)]))
}

function textsOf(value: unknown): Record<string, string> {
  const all: Json = isRecord(value) ? value : {}
  return Object.fromEntries(Object.entries(all).map(([name, text]) => [name, String(text)]))
}

function pemOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
