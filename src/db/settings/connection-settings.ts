import { z } from 'zod'
import { authSetting } from './auth-settings.ts'
import type { FormOfSetting } from './setting.ts'
import { mustBe, wholeNumber } from './values.ts'

const section = 'How it is called'
const tls = 'Certificates'

/** What the admin API shows in place of a stored user or password. */
export const hidden = '***'

const proxyUrl = z.string().transform((text, context) => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url !== undefined && /^https?:$/.test(url.protocol) && url.search + url.hash === ''
  // The admin API shows this in place of a stored user or password.
  if (url?.username === hidden || url?.password === hidden) {
    context.addIssue({
      code: 'custom',
      message: `${hidden} stands for a stored value: send the real user and password, or leave proxy out to keep them`,
    })
    return z.NEVER
  }
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
  ...['x-amz-date', 'x-amz-security-token', 'x-amz-content-sha256'],
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

/** In milliseconds. Each can only be shorter than the process's own timeout. */
export interface Timeouts {
  connectMs?: number
  firstByteMs?: number
  idleMs?: number
  totalMs?: number
}

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
const msField = (label: string, about: string) =>
  ({ section: 'Timeouts, ms', label, kind: 'integer', about }) as const

/**
 * The settings of a channel that determine how it is reached. They have no columns of their own, because most
 * are secret and are sealed together: see catalog/channel-connection.ts. Absent ones stay absent.
 */
export const connectionSettings = {
  auth: authSetting,
  timeouts: {
    entry: timeouts.exactOptional(),
    form: {
      connect_ms: msField('To connect', 'Until it is connected'),
      first_byte_ms: msField('First byte', 'Until the answer begins'),
      idle_ms: msField('Silence', 'Between two parts of an answer'),
      total_ms: msField('Whole call', 'From beginning to end'),
    },
  },
  proxy: {
    entry: proxyUrl.exactOptional(),
    form: {
      section,
      label: 'Proxy',
      kind: 'text',
      about: 'Empty: none. A change needs its password again',
      placeholder: 'http://proxy.internal:3128',
    },
  },
  headers: {
    entry: headers.exactOptional(),
    form: {
      section,
      label: 'Extra headers',
      kind: 'pairs',
      one: 'header',
      isSecret: true,
      about: 'Sent with each call. Values are stored encrypted, and never shown again',
    },
  },
  websocket: {
    entry: z.boolean().exactOptional(),
    form: { section, label: 'Send openai-responses over WebSocket', kind: 'switch', isLast: true },
  },
  ca: {
    entry: pem,
    form: {
      section: tls,
      label: 'Certificates to trust',
      kind: 'words',
      about: 'PEM, besides those of the system',
      placeholder: '-----BEGIN CERTIFICATE-----',
    },
  },
  cert: {
    entry: pem,
    form: {
      section: tls,
      label: 'Client certificate',
      kind: 'words',
      about: 'PEM, for a server that asks for one',
      placeholder: '-----BEGIN CERTIFICATE-----',
    },
  },
  key: {
    entry: pem,
    form: {
      section: tls,
      label: 'Private key of the client certificate',
      kind: 'words',
      about: 'PEM, without a passphrase. Stored encrypted, and never shown again. Empty: stays as it is',
    },
  },
} as const satisfies Readonly<Record<string, { entry: z.ZodType; form?: FormOfSetting }>>

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
