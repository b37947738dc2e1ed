import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { readBlock } from '../canonical/address-blocks.ts'
import { type Bounds, boundSettings, count } from './bounds.ts'
import { traceSettings } from './trace-settings.ts'

export type { Bounds } from './bounds.ts'

const oneOf = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` })

/** CIDR blocks and single addresses, separated by commas. An address becomes its own block. */
const addressBlocks = z.string().transform((text, context) => {
  const parts = text.split(',').map((part) => part.trim())
  return parts.flatMap((part) => {
    if (part === '') return []
    const block = readBlock(part)
    if (block !== undefined) return [block]
    const message = `must be addresses or blocks such as 10.0.0.0/8, separated by commas; "${part}" is neither`
    context.addIssue({ code: 'custom', message })
    return []
  })
})

/** Values separated by commas. */
const listOf = (value: RegExp, message: string) =>
  z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .refine((parts) => parts.every((part) => value.test(part)), message)

const headerList = listOf(/^(\*|[\w-]+)$/, 'must be header names separated by commas, or *')

const secretText = z.string().min(32, 'must have at least 32 characters (try: openssl rand -hex 32)')

const knownPages = ['console', 'home', 'models', 'docs'] as const

const pageNames = z.string().transform((text, context) => {
  const names = text.split(',').map((name) => name.trim())
  const known = knownPages.filter((name) => names.includes(name))
  if (text.trim() === 'none' || known.length === new Set(names).size) return known
  const message = `must be one or more of ${knownPages.join(', ')}, separated by commas, or none`
  context.addIssue({ code: 'custom', message })
  return z.NEVER
})

/** All settings besides the limits. The environment uses the same names in capitals, such as `DATA_DIR`. */
const settings = {
  host: z.string().default('127.0.0.1'),
  port: count(8787, 0, 65_535),
  /**
   * Where `GET /metrics` is served. Without a port it is not served, and nothing is measured. 0: any free
   * port.
   */
  metricsHost: z.string().default('127.0.0.1'),
  metricsPort: z
    .string()
    .refine(
      (text) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535,
      'must be a whole number from 0 to 65535',
    )
    .transform(Number)
    .optional(),
  /** Contains the journal and, without `databaseUrl`, the embedded database and the generated secret key. */
  dataDir: z.string().default('.tollgate'),
  /** If absent, the process starts an embedded Postgres in `dataDir`. */
  databaseUrl: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must be a postgres:// URL')
    .optional(),
  /** The same database through a pooler in transaction mode, for the queries that need no session. */
  databasePoolerUrl: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must be a postgres:// URL')
    .optional(),
  /** The path of gateway.yaml. If absent, the built-in demo channel is used. */
  gatewayConfig: z.string().optional(),
  /** Wraps the master keys in the database, from which all other keys are derived. */
  secretKey: secretText.optional(),
  /** The previous SECRET_KEY, needed while processes may still be running with it. */
  secretKeyPrevious: secretText.optional(),
  publicUrl: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }).optional(),
  /** `api` serves clients, `worker` runs jobs, and `all` does both. */
  role: oneOf(['api', 'worker', 'all']).default('all'),
  /**
   * Redis for the queues and for shared limits. If absent, the queues are on Postgres and each process
   * enforces limits separately.
   */
  redisUrl: z
    .string()
    .regex(/^rediss?:\/\//, 'must be a redis:// or rediss:// URL')
    .optional(),
  /**
   * Gives access to the whole admin API, independently of its users. If absent, only users and API tokens
   * have access.
   */
  adminToken: z.string().min(16, 'must have at least 16 characters').optional(),
  /** Single sign-on for admins. Set all three or none. */
  oidcIssuer: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }).optional(),
  oidcClientId: z.string().optional(),
  oidcClientSecret: z.string().optional(),
  /** The e-mail domains whose users can use single sign-on. */
  oidcDomains: z
    .string()
    .regex(/^[\w.-]+(\s*,\s*[\w.-]+)*$/, 'must be domains separated by commas')
    .transform((text) => text.split(',').map((domain) => domain.trim().toLowerCase()))
    .optional(),
  /** The claim whose values `oidcRoles` maps to roles. */
  oidcRoleClaim: z.string().default('groups'),
  oidcRoles: z
    .string()
    .regex(
      /^\s*[^=,]+=\s*(owner|admin|viewer|member:[^,]+)(\s*,\s*[^=,]+=\s*(owner|admin|viewer|member:[^,]+))*$/,
      'must have the form ops=owner,support=viewer,acme=member:TENANT',
    )
    .optional(),
  /**
   * CIDR blocks of private addresses that channels created through the admin API can call. If absent, they
   * can call none. gateway.yaml is not subject to this setting.
   */
  privateAddresses: addressBlocks.optional(),
  /** Whether webhooks can be sent to loopback and private addresses. */
  webhookPrivateAddresses: oneOf(['refuse', 'allow']).default('refuse'),
  /** Whether responses show our channels to clients in `x-tollgate-channel` and `x-tollgate-route`. */
  routingHeaders: oneOf(['hide', 'show']).default('hide'),
  /** The origins whose pages can call the model endpoints and the usage log. If absent, there are none. */
  corsOrigins: listOf(
    /^(\*|[a-z][a-z\d+.-]*:\/\/[^/?#@\s]+)$/i,
    'must be origins without a path, such as https://app.example or app://obsidian.md, separated by commas, or *',
  )
    .transform((origins) => origins.map((origin) => origin.toLowerCase()))
    .optional(),
  /** The headers that those pages can send. If absent, all headers requested by the preflight are allowed. */
  corsHeaders: headerList.optional(),
  /** The response headers that those pages can read. */
  corsExposedHeaders: headerList.default(['*']),
  /** Whether `GET /v1/responses` accepts WebSockets. */
  responsesWebsocket: oneOf(['on', 'off']).default('on'),
  /** A bucket for images. If absent, images are files in `dataDir`. */
  s3Bucket: z.string().optional(),
  /** The address of an S3 service other than Amazon's. */
  s3Endpoint: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }).optional(),
  s3Region: z.string().default('us-east-1'),
  /** If both are absent, the AWS SDK looks for credentials itself, such as the machine's role. */
  s3AccessKeyId: z.string().optional(),
  s3SecretAccessKey: z.string().optional(),
  /** The prefix of every key in the bucket. */
  s3Prefix: z
    .string()
    .regex(/^[\w./-]*$/, 'must contain only letters, digits and ./_-')
    .default('tollgate/'),
  /**
   * A directory for archived days, shared by all processes. If absent, S3 is used, or a directory in
   * `dataDir`.
   */
  archiveDir: z.string().optional(),
  /** A bucket for archived days. If absent, `s3Bucket` is used. */
  archiveS3Bucket: z.string().optional(),
  /** The prefix of every archived file in the bucket. */
  archiveS3Prefix: z
    .string()
    .regex(/^[\w./-]*$/, 'must contain only letters, digits and ./_-')
    .default('tollgate-archive/'),
  /** PEM files of a certificate chain and its key; set both or neither. With them the server uses HTTPS. */
  tlsCert: z.string().optional(),
  tlsKey: z.string().optional(),
  /** The gateway's name on its pages. */
  siteName: z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(60, 'must have at most 60 characters')
    .regex(/^\P{Cc}*$/u, 'must not contain control characters')
    .default('Tollgate'),
  /** The path of an SVG, PNG or WebP image for the pages. If absent, they show only the name. */
  siteLogo: z.string().optional(),
  /** The pages that are on. Empty means none. */
  pages: pageNames.default(['console', 'home', 'models', 'docs']),
  /** CIDR blocks of the proxies whose forwarded headers are trusted. If absent, none are. */
  trustedProxies: addressBlocks.optional(),
  /** `allow` accepts plain HTTP on every address, `loopback` only from this machine. */
  plainHttp: oneOf(['loopback', 'allow']).default('loopback'),
  /** The number of API processes that share the port. */
  processes: count(1, 1, 256),
  /** Which requests are logged: those that were refused or failed, all, or none. */
  accessLog: oneOf(['failures', 'all', 'off']).default('failures'),
  logLevel: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  /** `auto` writes lines for people to a terminal, and JSON to anything else. */
  logFormat: oneOf(['auto', 'json', 'text']).default('auto'),
  /**
   * What a row survives. With `journal`, the death of its process. With `postgres`, also the loss of its
   * disk, because the caller waits until Postgres has committed it.
   */
  durability: oneOf(['journal', 'postgres']).default('journal'),
  /**
   * With `process`, a row survives the death of the process. With `disk`, the caller also waits for
   * fdatasync.
   */
  journalSync: oneOf(['process', 'disk']).default('process'),
  /** Values of `anthropic-beta` that are removed before an upstream is called. */
  deniedBetas: z
    .string()
    .regex(/^[\w.-]+(\s*,\s*[\w.-]+)*$/, 'must be values of anthropic-beta separated by commas')
    .transform((text) => text.split(',').map((value) => value.trim()))
    .optional(),
  ...traceSettings,
}

/** All settings and limits of a process, read once from the environment. */
export type Config = Readonly<z.output<z.ZodObject<typeof settings>>> & { readonly bounds: Bounds }

const shape = z.object({ ...settings, bounds: z.object(boundSettings) })

/** Checks the settings that depend on each other. */
const config = shape.superRefine((e, context) => {
  const wrong = (name: string, message: string) => context.addIssue({ code: 'custom', path: [name], message })
  if (e.tlsCert !== undefined && e.tlsKey === undefined) wrong('tlsKey', 'must be set if TLS_CERT is set')
  if (e.tlsKey !== undefined && e.tlsCert === undefined) wrong('tlsCert', 'must be set if TLS_KEY is set')
  if (e.metricsPort === e.port && e.port > 0) wrong('metricsPort', 'must differ from PORT')
  if (e.databasePoolerUrl !== undefined && e.databaseUrl === undefined)
    wrong('databasePoolerUrl', 'requires DATABASE_URL, which must point at Postgres itself')
  const isSso = e.oidcIssuer !== undefined
  for (const name of ['oidcClientId', 'oidcClientSecret'] as const) {
    if ((e[name] !== undefined) !== isSso) wrong(name, 'must be set if, and only if, OIDC_ISSUER is set')
  }
  const { bodyBytesMax } = e.bounds
  for (const name of ['decodedBytesMax', 'bodiesBytesMax', 'keyBodiesBytesMax'] as const) {
    const bytes = e.bounds[name]
    const isDefault = name === 'keyBodiesBytesMax' && bytes === 0
    if (bytes < bodyBytesMax && !isDefault) wrong(name, `must be at least BODY_BYTES_MAX (${bodyBytesMax})`)
  }
  const { hotDays, archiveDays, requestRetentionDays } = e.bounds
  const rowDays = archiveDays === 0 ? requestRetentionDays : archiveDays
  if (hotDays >= rowDays && hotDays > 0) {
    const name = archiveDays === 0 ? 'REQUEST_RETENTION_DAYS' : 'ARCHIVE_DAYS'
    wrong('hotDays', `must be less than ${name} (${rowDays}), after which rows are deleted`)
  }
  const isSafe = e.tlsCert !== undefined || e.trustedProxies !== undefined || e.plainHttp === 'allow'
  if (e.role !== 'worker' && !isSafe && !isLoopback(e.host)) {
    wrong(
      'host',
      `${e.host} is not a loopback address, so keys would be sent in plain text. Set TLS_CERT and TLS_KEY to serve HTTPS, TRUSTED_PROXIES to the addresses of a proxy that does, or PLAIN_HTTP=allow`,
    )
  }
})

function isLoopback(host: string): boolean {
  return host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback')
}

/**
 * Parses an environment into a frozen Config, without side effects. An empty string counts as absent. Throws
 * an Error that lists every invalid variable and the allowed values.
 */
export function readConfig(env: Environment): Config {
  const parsed = parse(env)
  if (!parsed.success) {
    const lines = wrongIn(parsed.error).map(({ name, message }) => `  ${name}: ${message}`)
    throw new Error(`The environment contains invalid values:\n${lines.join('\n')}`)
  }
  return Object.freeze({ ...parsed.data, bounds: Object.freeze(parsed.data.bounds) })
}

/** A variable that `readConfig` rejects. */
interface WrongVariable {
  name: string
  /** What is expected of its value. */
  message: string
}

/** Returns all invalid variables. If there are none, `readConfig` accepts the environment. */
export function wrongVariables(env: Environment): WrongVariable[] {
  const parsed = parse(env)
  return parsed.success ? [] : wrongIn(parsed.error)
}

type Environment = Readonly<Record<string, string | undefined>>

function parse(env: Environment) {
  const present = (names: object) =>
    Object.fromEntries(Object.keys(names).map((name) => [name, env[variableOf(name)] || undefined]))
  return config.safeParse({ ...present(settings), bounds: present(boundSettings) })
}

function wrongIn({ issues }: z.ZodError): WrongVariable[] {
  return issues.map(({ path, message }) => ({ name: variableOf(String(path.at(-1))), message }))
}

/** Returns all variables that `readConfig` reads. */
export function variableNames(): string[] {
  return [...Object.keys(settings), ...Object.keys(boundSettings)].map(variableOf)
}

/** Returns the name of a setting in the environment: `bodyBytesMax` becomes `BODY_BYTES_MAX`. */
export function variableOf(name: string): string {
  return name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toUpperCase()
}

/**
 * Returns the Config from the environment of this process, and that environment for `${NAME}` in
 * gateway.yaml.
 */
export function configFromEnvironment(): { config: Config; environment: Record<string, string | undefined> } {
  return { config: readConfig(process.env), environment: { ...process.env } }
}
