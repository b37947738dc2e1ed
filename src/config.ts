import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { readBlock } from './address-blocks.ts'
import { type Bounds, boundSettings, count } from './bounds.ts'
import { traceSettings } from './trace-settings.ts'

export type { Bounds } from './bounds.ts'

const oneOf = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` })

/** CIDR blocks and single addresses, with commas between them. An address becomes a block of its own. */
const addressBlocks = z.string().transform((text, context) => {
  const parts = text.split(',').map((part) => part.trim())
  return parts.flatMap((part) => {
    if (part === '') return []
    const block = readBlock(part)
    if (block !== undefined) return [block]
    const message = `must be addresses or blocks such as 10.0.0.0/8, with commas between them; "${part}" is not one`
    context.addIssue({ code: 'custom', message })
    return []
  })
})

/** Values with commas between them. */
const listOf = (value: RegExp, message: string) =>
  z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .refine((parts) => parts.every((part) => value.test(part)), message)

const headerList = listOf(/^(\*|[\w-]+)$/, 'must be names of headers, with commas between them, or *')

const secretText = z.string().min(32, 'must have 32 characters or more (try: openssl rand -hex 32)')

const knownPages = ['console', 'home', 'models', 'docs'] as const

const pageNames = z.string().transform((text, context) => {
  const names = text.split(',').map((name) => name.trim())
  const known = knownPages.filter((name) => names.includes(name))
  if (text.trim() === 'none' || known.length === new Set(names).size) return known
  const message = `must be one or more of ${knownPages.join(', ')}, with commas between them, or none`
  context.addIssue({ code: 'custom', message })
  return z.NEVER
})

/**
 * All settings beside the bounds. The environment has each under the same name in capitals, such as
 * `DATA_DIR`.
 */
const settings = {
  host: z.string().default('127.0.0.1'),
  port: count(8787, 0, 65_535),
  /** Where `GET /metrics` is served. Without a port it is not, and nothing is measured. 0: any free port. */
  metricsHost: z.string().default('127.0.0.1'),
  metricsPort: z
    .string()
    .refine(
      (text) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535,
      'must be a whole number from 0 to 65535',
    )
    .transform(Number)
    .optional(),
  /** Holds the journal, and, without `databaseUrl`, the embedded database and the generated secret key. */
  dataDir: z.string().default('.tollgate'),
  /** Absent: the process starts an embedded Postgres below `dataDir`. */
  databaseUrl: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must be a postgres:// URL')
    .optional(),
  /** The same database through a pooler in transaction mode, for the queries that need no session. */
  databasePoolerUrl: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must be a postgres:// URL')
    .optional(),
  /** Path of gateway.yaml. Absent: the built-in demo channel. */
  gatewayConfig: z.string().optional(),
  /** It wraps the master keys of the database, from which all other keys derive. */
  secretKey: secretText.optional(),
  /** The SECRET_KEY before this one, while processes with that one may run. */
  secretKeyPrevious: secretText.optional(),
  publicUrl: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }).optional(),
  /** `api`: answer clients. `worker`: make images. `all`: both. */
  role: oneOf(['api', 'worker', 'all']).default('all'),
  /**
   * Redis for the queues and for shared limits. Absent: the queues are on Postgres, and each process has its
   * own limits.
   */
  redisUrl: z
    .string()
    .regex(/^rediss?:\/\//, 'must be a redis:// or rediss:// URL')
    .optional(),
  /** Opens the whole admin API, independent of its users. Absent: only users and API tokens open it. */
  adminToken: z.string().min(16, 'must have 16 characters or more').optional(),
  /** Single sign-on for admins: all three or none. */
  oidcIssuer: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }).optional(),
  oidcClientId: z.string().optional(),
  oidcClientSecret: z.string().optional(),
  /** Domains of e-mail addresses that may come by single sign-on. */
  oidcDomains: z
    .string()
    .regex(/^[\w.-]+(\s*,\s*[\w.-]+)*$/, 'must be domains, with commas between them')
    .transform((text) => text.split(',').map((domain) => domain.trim().toLowerCase()))
    .optional(),
  /** The claim whose values `oidcRoles` maps to roles. */
  oidcRoleClaim: z.string().default('groups'),
  oidcRoles: z
    .string()
    .regex(
      /^\s*[^=,]+=\s*(owner|admin|viewer|member:[^,]+)(\s*,\s*[^=,]+=\s*(owner|admin|viewer|member:[^,]+))*$/,
      'must be such as ops=owner,support=viewer,acme=member:TENANT',
    )
    .optional(),
  /**
   * CIDR blocks of private addresses that channels of the admin API may call. Absent: none. gateway.yaml is
   * not bound by it.
   */
  privateAddresses: addressBlocks.optional(),
  /** Whether webhooks may go to loopback and private addresses. */
  webhookPrivateAddresses: oneOf(['refuse', 'allow']).default('refuse'),
  /** Whether answers name our channels to clients: `x-tollgate-channel` and `x-tollgate-route`. */
  routingHeaders: oneOf(['hide', 'show']).default('hide'),
  /** Origins whose pages may call the endpoints of models and the usage log. Absent: none. */
  corsOrigins: listOf(
    /^(\*|[a-z][a-z\d+.-]*:\/\/[^/?#@\s]+)$/i,
    'must be origins such as https://app.example or app://obsidian.md, with commas between them and no path, or *',
  )
    .transform((origins) => origins.map((origin) => origin.toLowerCase()))
    .optional(),
  /** Headers that those pages may send. Absent: whatever the preflight asks for. */
  corsHeaders: headerList.optional(),
  /** Headers of answers that they may read. */
  corsExposedHeaders: headerList.default(['*']),
  /** Whether `GET /v1/responses` takes WebSockets. */
  responsesWebsocket: oneOf(['on', 'off']).default('on'),
  /** A bucket for images. Absent: images are files below `dataDir`. */
  s3Bucket: z.string().optional(),
  /** The address of an S3 service other than Amazon's. */
  s3Endpoint: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }).optional(),
  s3Region: z.string().default('us-east-1'),
  /** Both absent: the AWS SDK looks for credentials itself, such as the machine's role. */
  s3AccessKeyId: z.string().optional(),
  s3SecretAccessKey: z.string().optional(),
  /** The prefix of every key in the bucket. */
  s3Prefix: z
    .string()
    .regex(/^[\w./-]*$/, 'must be letters, digits and ./_-')
    .default('tollgate/'),
  /** A directory for archived days, which all processes share. Absent: S3, or a directory below `dataDir`. */
  archiveDir: z.string().optional(),
  /** A bucket for archived days. Absent: `s3Bucket`. */
  archiveS3Bucket: z.string().optional(),
  /** The prefix of every archived file in the bucket. */
  archiveS3Prefix: z
    .string()
    .regex(/^[\w./-]*$/, 'must be letters, digits and ./_-')
    .default('tollgate-archive/'),
  /** PEM files of a certificate chain and its key, both or neither. With them the server speaks HTTPS. */
  tlsCert: z.string().optional(),
  tlsKey: z.string().optional(),
  /** The gateway's name on its pages. */
  siteName: z
    .string()
    .trim()
    .min(1, 'must have a character')
    .max(60, 'must have 60 characters or fewer')
    .regex(/^\P{Cc}*$/u, 'must have no control characters')
    .default('Tollgate'),
  /** Path of an SVG, PNG or WebP image for the pages. Absent: they show the name alone. */
  siteLogo: z.string().optional(),
  /** The pages that are on. Empty: none. */
  pages: pageNames.default(['console', 'home', 'models', 'docs']),
  /** CIDR blocks of the proxies whose forwarded headers we believe. Absent: we believe none. */
  trustedProxies: addressBlocks.optional(),
  /** `allow`: answer plain HTTP from every address. `loopback`: from this machine only. */
  plainHttp: oneOf(['loopback', 'allow']).default('loopback'),
  /** API processes that share the port. */
  processes: count(1, 1, 256),
  /** Which requests have a line in the log: those that were refused or failed, all, or none. */
  accessLog: oneOf(['failures', 'all', 'off']).default('failures'),
  logLevel: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  /**
   * What a row survives. `journal`: the death of its process. `postgres`: also the loss of its disk, because
   * the caller waits until Postgres has committed it.
   */
  durability: oneOf(['journal', 'postgres']).default('journal'),
  /** `process`: a row survives the death of the process; `disk`: the caller also waits for fdatasync. */
  journalSync: oneOf(['process', 'disk']).default('process'),
  /** Values of `anthropic-beta` that we remove before we call an upstream. */
  deniedBetas: z
    .string()
    .regex(/^[\w.-]+(\s*,\s*[\w.-]+)*$/, 'must be values of anthropic-beta, with commas between them')
    .transform((text) => text.split(',').map((value) => value.trim()))
    .optional(),
  ...traceSettings,
}

/** All settings and bounds of a process, read once from the environment. */
export type Config = Readonly<z.output<z.ZodObject<typeof settings>>> & { readonly bounds: Bounds }

const shape = z.object({ ...settings, bounds: z.object(boundSettings) })

/** Checks the settings that depend on each other. */
const config = shape.superRefine((e, context) => {
  const wrong = (name: string, message: string) => context.addIssue({ code: 'custom', path: [name], message })
  if (e.tlsCert !== undefined && e.tlsKey === undefined) wrong('tlsKey', 'must be set where TLS_CERT is')
  if (e.tlsKey !== undefined && e.tlsCert === undefined) wrong('tlsCert', 'must be set where TLS_KEY is')
  if (e.metricsPort === e.port && e.port > 0) wrong('metricsPort', 'must be another port than PORT')
  if (e.databasePoolerUrl !== undefined && e.databaseUrl === undefined)
    wrong('databasePoolerUrl', 'needs DATABASE_URL, which leads to Postgres itself')
  const isSso = e.oidcIssuer !== undefined
  for (const name of ['oidcClientId', 'oidcClientSecret'] as const) {
    if ((e[name] !== undefined) !== isSso) wrong(name, 'must be set where OIDC_ISSUER is, and only there')
  }
  const { bodyBytesMax } = e.bounds
  for (const name of ['decodedBytesMax', 'bodiesBytesMax', 'keyBodiesBytesMax'] as const) {
    const bytes = e.bounds[name]
    const isDefault = name === 'keyBodiesBytesMax' && bytes === 0
    if (bytes < bodyBytesMax && !isDefault) wrong(name, `must be BODY_BYTES_MAX (${bodyBytesMax}) or more`)
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
      `${e.host} is not a loopback address, and keys would come to it as plain text: set TLS_CERT and TLS_KEY to serve HTTPS, TRUSTED_PROXIES to the addresses of a proxy that does, or PLAIN_HTTP=allow`,
    )
  }
})

function isLoopback(host: string): boolean {
  return host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback')
}

/**
 * Turn an environment into a frozen Config. Pure. An empty string counts as absent.
 * Throws an Error that lists every wrong variable and what it must be.
 */
export function readConfig(env: Environment): Config {
  const parsed = parse(env)
  if (!parsed.success) {
    const lines = wrongIn(parsed.error).map(({ name, message }) => `  ${name}: ${message}`)
    throw new Error(`The environment has wrong values:\n${lines.join('\n')}`)
  }
  return Object.freeze({ ...parsed.data, bounds: Object.freeze(parsed.data.bounds) })
}

/** A variable that `readConfig` refuses. */
interface WrongVariable {
  name: string
  /** What it must be. */
  message: string
}

/** All of them. None: `readConfig` takes the environment. */
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

/** Every variable that `readConfig` reads. */
export function variableNames(): string[] {
  return [...Object.keys(settings), ...Object.keys(boundSettings)].map(variableOf)
}

/** The name of a setting in the environment: `bodyBytesMax` is `BODY_BYTES_MAX`. */
export function variableOf(name: string): string {
  return name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toUpperCase()
}

/** The Config of this process's own environment, and that environment for gateway.yaml's `${NAME}`. */
export function configFromEnvironment(): { config: Config; environment: Record<string, string | undefined> } {
  return { config: readConfig(process.env), environment: { ...process.env } }
}
