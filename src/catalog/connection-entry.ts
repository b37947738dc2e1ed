import { z } from 'zod'
import { mustBe, wholeNumber } from '../db/settings/values.ts'
import type { ConnectionEntry, Timeouts } from './channel-connection.ts'

const proxyUrl = z.string().transform((text, context) => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url !== undefined && /^https?:$/.test(url.protocol) && url.search + url.hash === ''
  if (isPlain && url.pathname === '/' && isDecodable(url.username) && isDecodable(url.password))
    return url.href
  const message = mustBe('the URL of a proxy, such as http://user:password@proxy.internal:3128')
  context.addIssue({ code: 'custom', message })
  return z.NEVER
})

const headersMax = 50

/** Headers that the connection, the protocol or the credential of a call depends on. */
const ownHeaders: ReadonlySet<string> = new Set([
  // https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1, read 2026-11-22
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['proxy-authenticate', 'proxy-authorization'],
  ...['host', 'content-length', 'content-type', 'content-encoding', 'accept', 'accept-encoding', 'expect'],
  ...['authorization', 'x-api-key', 'x-goog-api-key'],
])

const headerName = z
  .string()
  .max(128)
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, mustBe('a valid header name'))
  .refine((name) => !ownHeaders.has(name.toLowerCase()), {
    error: 'is a header that Tollgate sets itself; put credentials in api_keys',
  })

const headerValue = z
  .string()
  .max(8192)
  .regex(
    /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/,
    mustBe('visible ASCII characters without leading or trailing spaces'),
  )

const headers = z
  .record(headerName, headerValue)
  .refine((all) => Object.keys(all).length <= headersMax, {
    error: mustBe(`a map of at most ${headersMax} headers`),
  })
  .refine(
    (all) => new Set(Object.keys(all).map((name) => name.toLowerCase())).size === Object.keys(all).length,
    {
      error: 'must not name a header twice',
    },
  )
  .transform((all) =>
    Object.fromEntries(Object.entries(all).map(([name, value]) => [name.toLowerCase(), value])),
  )

const ms = wholeNumber(1, 2 ** 31 - 1).exactOptional()
const timeouts = z.strictObject({ connect_ms: ms, first_byte_ms: ms, idle_ms: ms, total_ms: ms }).transform(
  (t): Timeouts => ({
    ...(t.connect_ms !== undefined && { connectMs: t.connect_ms }),
    ...(t.first_byte_ms !== undefined && { firstByteMs: t.first_byte_ms }),
    ...(t.idle_ms !== undefined && { idleMs: t.idle_ms }),
    ...(t.total_ms !== undefined && { totalMs: t.total_ms }),
  }),
)

const pem = z
  .string()
  .max(1024 * 1024)
  .exactOptional()
const file = z.string().min(1).max(4096).exactOptional()

/** The settings of a channel that determine how it is reached. */
export const connectionSettings = {
  proxy: proxyUrl.exactOptional(),
  ca: pem,
  ca_file: file,
  cert: pem,
  cert_file: file,
  key: pem,
  key_file: file,
  headers: headers.exactOptional(),
  timeouts: timeouts.exactOptional(),
  websocket: z.boolean().exactOptional(),
}

type Settings = z.output<z.ZodObject<typeof connectionSettings>>

/** A connection whose files have not been read yet. */
export interface ConnectionDraft extends ConnectionEntry {
  files?: Partial<Record<PemName, string>>
}

/** Settings that can be stored in separate files. */
export type PemName = 'ca' | 'cert' | 'key'

/** Returns undefined if there are no such settings. */
export function connectionDraft(all: Settings): ConnectionDraft | undefined {
  const { proxy, ca, cert, key, ca_file, cert_file, key_file, headers, timeouts, websocket } = all
  const files = {
    ...(ca_file !== undefined && { ca: ca_file }),
    ...(cert_file !== undefined && { cert: cert_file }),
    ...(key_file !== undefined && { key: key_file }),
  }
  const draft: ConnectionDraft = {
    ...(proxy !== undefined && { proxy }),
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(headers !== undefined && Object.keys(headers).length > 0 && { headers }),
    ...(timeouts !== undefined && Object.keys(timeouts).length > 0 && { timeouts }),
    ...(websocket === true && { websocket }),
    ...(Object.keys(files).length > 0 && { files }),
  }
  return Object.keys(draft).length === 0 ? undefined : draft
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
