import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { collectorUrlOf, ratioOf } from '../config/trace-settings.ts'
import type { Database } from '../db/database.ts'
import type { Enqueued } from '../jobs/jobs.ts'
import type { Queues } from '../jobs/queue/queue.ts'
import type { Limits } from '../limits/limits.ts'
import { memoryLimits } from '../limits/memory.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Opened } from '../runtime/opened.ts'
import type { SecretKeeper } from '../secrets/secret-key.ts'
import { ClientFiles } from '../state/files/client-files.ts'
import { KeptAnswers } from '../state/kept/kept-answers.ts'
import { fileStorage } from '../storage/files.ts'
import type { ImageStorage } from '../storage/storage.ts'
import type { Log } from '../telemetry/log.ts'
import { tracedLog } from '../telemetry/traces/traced-log.ts'
import type { Traces } from '../telemetry/traces/traces.ts'
import type { Measures } from './measures/measures.ts'

// The services besides Postgres that a process opens according to its configuration. Each is loaded only
// where it is used.

/** Workers charge no limits, so they do not share them. */
export async function openLimits(
  { redisUrl, role, bounds }: Config,
  clock: Clock,
  log: Log,
): Promise<Limits> {
  if (redisUrl === undefined || role === 'worker') return memoryLimits(clock)
  const { openRedisLimits } = await import('../limits/redis.ts')
  return await openRedisLimits({
    url: redisUrl,
    waitMs: bounds.limitsMs,
    leaseMs: bounds.limitsLeaseMs,
    clock,
    log,
  })
}

/** Rejects with an Error for the operator if the storage cannot store images. */
export async function openStorage(config: Config, dataDir: string, opened: Opened): Promise<ImageStorage> {
  const storage = await makeStorage(config, join(dataDir, 'images'), config.s3Prefix)
  opened.add('image storage', () => storage.close())
  await storage.check()
  return storage
}

/** The same for client files. They are stored next to images, which have a different retention. */
export async function openFiles(
  config: Config,
  dataDir: string,
  { database, keeper, opened }: { database: Database; keeper: SecretKeeper; opened: Opened },
): Promise<ClientFiles> {
  const storage = await makeStorage(config, join(dataDir, 'files'), `${config.s3Prefix}files/`)
  opened.add('file storage', () => storage.close())
  if (config.bounds.fileDays > 0) await storage.check()
  return new ClientFiles({ database, storage, cipher: sealedBy(keeper, 'upload'), bounds: config.bounds })
}

/** Seals texts for one purpose, each bound to its owner. */
export function sealedBy(keeper: SecretKeeper, purpose: Parameters<SecretKeeper['seal']>[0]) {
  return {
    seal: (plain: string, owner: string) => keeper.seal(purpose, plain, owner),
    open: (sealed: Buffer, owner: string) => keeper.open(purpose, sealed, owner).toString('utf8'),
  }
}

async function makeStorage(config: Config, directory: string, prefix: string): Promise<ImageStorage> {
  const { s3Bucket: bucket, s3Endpoint: endpoint, s3Region: region } = config
  if (bucket === undefined) return fileStorage({ directory })
  // A process that stores images as files never loads the S3 SDK.
  const { s3Storage } = await import('../storage/s3.ts')
  const { s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey } = config
  return await s3Storage({ bucket, endpoint, region, prefix, accessKeyId, secretAccessKey })
}

export function openKept({ answers }: Database, keeper: SecretKeeper, bounds: Config['bounds']): KeptAnswers {
  return new KeptAnswers({ answers, cipher: sealedBy(keeper, 'keptAnswer'), bounds })
}

export interface LazyQueues {
  /** The first call opens the queues. A process that queues nothing does not load them. */
  queues(): Promise<Queues>
  add(entries: readonly Enqueued[]): Promise<void>
  close(): Promise<void>
}

export function lazyQueues(config: Config, databaseUrl: string, log: Log): LazyQueues {
  let opening: Promise<Queues> | undefined
  const queues = () => {
    opening ??= openQueues(config, databaseUrl, log).catch((error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }
  return {
    queues,
    async add(entries) {
      const open = await queues()
      const of = (kind: Enqueued['kind']) => entries.filter((each) => each.kind === kind)
      await Promise.all([open.images.add(of('image')), open.answers.add(of('answer'))])
    },
    close: async () => await opening?.then((open) => open.close()).catch(() => {}),
  }
}

/** Combines all listeners for rows into one. Undefined if there are none. */
export function tellAll<What extends unknown[]>(
  ...listeners: readonly (((...what: What) => void) | undefined)[]
): ((...what: What) => void) | undefined {
  const [first, second] = listeners.filter((each) => each !== undefined)
  if (first === undefined || second === undefined) return first
  return (...what) => {
    first(...what)
    second(...what)
  }
}

/** Opens the measurements if METRICS_PORT is set. Otherwise nothing is measured. */
export async function openMeasures(
  config: Config,
  parts: ConstructorParameters<typeof Measures>[0],
): Promise<Measures | undefined> {
  if (config.metricsPort === undefined) return undefined
  const { Measures } = await import('./measures/measures.ts')
  return new Measures(parts)
}

/**
 * Opens the traces if OTEL_EXPORTER_OTLP_ENDPOINT is set, and returns a log whose lines then contain trace
 * ids. Without it, nothing of OpenTelemetry is loaded.
 */
export async function openTraces(
  config: Config,
  log: Log,
): Promise<{ traces: Traces | undefined; log: Log }> {
  const url = collectorUrlOf(config)
  if (url === undefined) return { traces: undefined, log }
  const { Traces, resourceOf } = await import('../telemetry/traces/traces.ts')
  const traces = new Traces({
    collector: {
      url,
      headers: { ...config.otelExporterOtlpHeaders, ...config.otelExporterOtlpTracesHeaders },
      timeoutMs: config.otelExporterOtlpTimeout,
    },
    sampler: config.otelTracesSampler,
    ratio: ratioOf(config),
    clientContext: config.traceClientContext,
    content: config.traceContent === 'captured',
    withheldFrom: new Set(config.traceContextWithheld),
    queue: {
      spansMax: config.otelBspMaxQueueSize,
      batchMax: Math.min(config.otelBspMaxExportBatchSize, config.otelBspMaxQueueSize),
      delayMs: config.otelBspScheduleDelay,
    },
    resource: resourceOf({
      role: config.role,
      serviceName: config.otelServiceName,
      attributes: config.otelResourceAttributes,
    }),
    log,
  })
  return { traces, log: tracedLog(log, (requestId) => traces.idOf(requestId)) }
}

async function openQueues({ redisUrl, bounds }: Config, databaseUrl: string, log: Log): Promise<Queues> {
  const { openQueues } = await import('../jobs/queue/open.ts')
  if (redisUrl === undefined) {
    const { prepareQueueSchema } = await import('../jobs/queue/postgres.ts')
    await prepareQueueSchema(databaseUrl)
  }
  return await openQueues({
    redisUrl,
    databaseUrl,
    commandMs: bounds.admitMs,
    waitMs: bounds.databaseWaitMs,
    lockMs: bounds.imageLeaseMs,
    log,
  })
}

/** Workers serve no clients, so they do not list models. */
export function listBoundsOf({ role, bounds }: Config): Config['bounds'] {
  return role === 'worker' ? { ...bounds, modelListRefreshMs: 0 } : bounds
}
