import { randomUUIDv7 } from 'node:crypto'
import { resolve } from 'node:path'
import { applyGatewayFile, checkGatewayFile } from './access/apply-gateway-file.ts'
import type { GeneratedKey } from './access/apply-tenants.ts'
import { ensureFirstKey } from './access/first-run.ts'
import { GatewayFileFollower } from './access/follow-gateway-file.ts'
import { logFileOutcome } from './access/gateway-file-log.ts'
import { readWithState } from './access/gateway-file-state.ts'
import { type AnswerCipher, IdempotencyKeys } from './access/idempotency-keys.ts'
import { type Keys, keysOf } from './access/keys.ts'
import { followRevisions } from './access/revision.ts'
import { keepAttempts } from './access/users/keep-attempts.ts'
import type { People } from './access/users/people.ts'
import type { DestinationCipher } from './alerts/destination.ts'
import { reportLedger } from './alerts/report-ledger.ts'
import type { Archive } from './archive/archive.ts'
import { openArchive, requireDuck, rowDaysOf } from './archive/open-archive.ts'
import { BackgroundAnswers } from './background/background-answers.ts'
import { CapturedAnswers } from './bodies/captured-answers.ts'
import { Catalog } from './catalog/catalog.ts'
import { applyDemo, demoBaseUrl } from './catalog/demo.ts'
import type { GatewaySource } from './catalog/gateway-source.ts'
import { rememberRefusals } from './catalog/refusals.ts'
import type { Config } from './config.ts'
import { checkFirst } from './db/check-first.ts'
import type { Connections } from './db/connections.ts'
import { type Database, openDatabase } from './db/database.ts'
import { startEmbedded } from './db/embedded.ts'
import { prepareDatabase, whenReachable } from './db/migrate.ts'
import { checkPooler } from './db/pooler.ts'
import { writeStorageQuota } from './db/storage-quota.ts'
import { type Demo, startDemo } from './demo/server.ts'
import type { ClientFiles } from './files/client-files.ts'
import { BodyMemory } from './http/body-memory.ts'
import { cutRequests } from './http/cut-requests.ts'
import { RunningRequests } from './http/running-requests.ts'
import { TurnBudget } from './http/turn-budget.ts'
import type { ImageGateway } from './images/image-gateway.ts'
import { ImageLinks } from './images/storage/links.ts'
import { Jobs } from './jobs/jobs.ts'
import { JobWatch } from './jobs/watch.ts'
import { heldAnswers } from './ledger/held-answers.ts'
import { registerProcess } from './ledger/instances.ts'
import { Ledger, type LedgerOptions } from './ledger/ledger.ts'
import { othersPositions } from './ledger/ledger-state-queries.ts'
import { LedgerWatch } from './ledger/ledger-watch.ts'
import { RunningExports } from './ledger/log/running-exports.ts'
import { keepPartitions } from './ledger/partitions.ts'
import { Reservations } from './ledger/reservations.ts'
import { keepRollups } from './ledger/rollups.ts'
import { Verifications } from './ledger/verifications.ts'
import type { Measures } from './measures/measures.ts'
import { requestLines } from './measures/request-lines.ts'
import { FollowedLists } from './model-lists/follow-lists.ts'
import {
  lazyQueues,
  listBoundsOf,
  openFiles,
  openKept,
  openLimits,
  openMeasures,
  openStorage,
  openTraces,
  sealedBy,
  tellAll,
} from './open-services.ts'
import { answerThreadBounds, envelopeKeysOf, startBodyThreads } from './open-threads.ts'
import { makeEnvelope } from './protocols/envelope.ts'
import type { Queues } from './queue/queue.ts'
import { ChannelLoad } from './routing/channel-load.ts'
import { startRouting } from './routing/routing.ts'
import { RunningCounts } from './running-counts.ts'
import { resolveSecretKey, type SecretKeeper } from './secret-key.ts'
import { FollowedMasters } from './secrets/follow-masters.ts'
import { prepareKeeper, readKeeper } from './secrets/open-masters.ts'
import { OpenSockets } from './sockets/open-sockets.ts'
import type { Log } from './telemetry/log.ts'
import { refusedBaseUrls } from './upstream/allowed-addresses.ts'
import { Upstreams } from './upstream/upstreams.ts'

/** All that a process holds open. It is built once, closed once, and passed as an argument. */
export interface Context extends ImageGateway {
  config: Config
  log: Log
  ledger: Ledger
  database: Database
  /** The days of the usage log that Postgres has no longer. */
  archive: Archive
  /** Exports of the usage log that run here. */
  exports: RunningExports
  catalog: Catalog
  files: ClientFiles
  keys: Keys
  /** For threads, which have connections of their own. */
  databaseUrl: string
  /** Keys that this start generated. Their secrets cannot be read later. */
  generatedKeys: GeneratedKey[]
  /** Undefined: there is no GATEWAY_CONFIG. */
  gatewayFile: GatewayFileFollower | undefined
  /** What the ledger knows of itself. */
  ledgerWatch: LedgerWatch
  verifications: Verifications
  /** Of this process: it encrypts, signs and hashes. */
  keeper: SecretKeeper
  /** Encrypts answers that are kept for repeats, each for its request. */
  answers: AnswerCipher
  /** What the parts that deal with users of the admin API need. */
  people: People
  /** Seals the webhooks of alerts. */
  alertCipher: DestinationCipher
  /** The queues. The first call opens them: a process that queues nothing does not load them. */
  queues(): Promise<Queues>
  /** WebSockets of clients. */
  sockets: OpenSockets
  /** Undefined: nothing is measured. */
  measures: Measures | undefined
  /** Ship the remaining rows, then close all connections. */
  close(): Promise<void>
}

/** Time between two reads of the jobs for which clients wait: notifications may be lost. */
const watchSweepMs = 1_000

/** Bytes of large bodies that one turn of the event loop moves: less than a millisecond's work. */
const turnBytes = 512 * 1024

/** Longest wait for Postgres to take the last rows when a process ends. The journal keeps the others. */
const lastShipmentMs = 5_000

/** Longest wait for the collector of traces when a process ends. */
const lastTracesMs = 3_000

/** Longest wait for captured answers that are being put together when a process ends. */
const lastAnswersMs = 2_000

/**
 * Open all parts of a process, each after the parts that it needs. gateway.yaml reads `${NAME}` from `environment`.
 * `keptUrl` is the address of the embedded Postgres if another process keeps it.
 * Rejects with an Error for the operator when a part cannot be opened.
 */
export async function openContext(
  config: Config,
  environment: Record<string, string | undefined>,
  ownLog: Log,
  keptUrl?: string,
): Promise<Context> {
  requireDuck(config)
  const { traces, log } = await openTraces(config, ownLog)
  const state = await openState(config, environment, log, keptUrl)
  const parts = { traces, ...(await openParts(config, state, log)) }
  const context = contextOf(config, state, parts, log)
  parts.measures?.show(context)
  return context
}

type State = Awaited<ReturnType<typeof openState>>
type Parts = Awaited<ReturnType<typeof openParts>> & Pick<Context, 'traces'>

/** Postgres, with all that a start writes there. */
async function openState(
  config: Config,
  environment: Record<string, string | undefined>,
  log: Log,
  keptUrl: string | undefined,
) {
  const { bounds } = config
  const dataDir = resolve(config.dataDir)
  const secretKey = resolveSecretKey({
    secretKey: config.secretKey,
    dataDir,
    embedded: config.databaseUrl === undefined,
  })
  const secretKeys = { secretKey, secretKeyPrevious: config.secretKeyPrevious }
  const path = config.gatewayConfig
  const read = path === undefined ? undefined : await readWithState(path, environment, bounds)
  const file = read?.source
  const kept = keptUrl === undefined ? undefined : { url: keptUrl, stop: async () => {} }
  // A wrong file makes no database.
  if (config.databaseUrl === undefined && kept === undefined) file?.parse()
  const embedded =
    config.databaseUrl === undefined ? (kept ?? (await startEmbedded({ dataDir, log }))) : undefined
  const url = config.databaseUrl ?? embedded?.url ?? ''

  const generatedKeys: GeneratedKey[] = []
  const gatewayFile =
    path === undefined || read === undefined
      ? undefined
      : new GatewayFileFollower(
          { path, environment, databaseUrl: url, ...secretKeys, bounds },
          read.seen,
          log,
        )
  const poolerUrl = config.databasePoolerUrl
  const database = openDatabase(url, bounds, poolerUrl)
  const instanceId = randomUUIDv7()
  const { catalog, keeper } = await whenReachable(url, bounds.databaseWaitMs, log, async () => {
    let keeper = await checkFirst(url, async (connections) => {
      if (poolerUrl !== undefined) await checkPooler(poolerUrl, connections.sql)
      const unprepared = await readKeeper(connections.sql, secretKeys)
      if (file !== undefined) await checkGatewayFile(connections, file, unprepared)
      return unprepared
    })
    await prepareDatabase(url, async (connections) => {
      keeper = await prepareKeeper(connections.sql, secretKeys)
      await fillCatalog(connections, keeper, { file, isEmbedded: embedded !== undefined, generatedKeys, log })
    })
    // Before it has a journal, so that no neighbour takes that journal for one of a dead process.
    await registerProcess(database, { instanceId, pid: process.pid, durability: config.durability })
    return { catalog: await Catalog.load(database, keeper, log), keeper }
  })
  return {
    dataDir,
    secretKeys,
    file,
    embedded,
    url,
    generatedKeys,
    gatewayFile,
    database,
    instanceId,
    catalog,
    keeper,
  }
}

/** gateway.yaml, or else what the first start of a gateway without one makes. */
async function fillCatalog(
  connections: Connections,
  keeper: SecretKeeper,
  start: { file: GatewaySource | undefined; isEmbedded: boolean; generatedKeys: GeneratedKey[]; log: Log },
): Promise<void> {
  const { file, isEmbedded, generatedKeys, log } = start
  if (file !== undefined) {
    const outcome = await applyGatewayFile(connections, file, keeper)
    logFileOutcome(log, { ...file, hash: file.hashWith(keeper.fileKey) }, outcome)
    if (outcome.kind === 'applied') generatedKeys.push(...outcome.generated)
    return
  }
  const first = await ensureFirstKey(connections, keeper)
  if (first !== undefined) generatedKeys.push(first)
  if (first !== undefined || isEmbedded) await applyDemo(connections, keeper)
}

/** All beside Postgres, in the order of their needs. */
async function openParts(config: Config, state: State, log: Log) {
  const { bounds } = config
  const { dataDir, url, database, catalog, keeper } = state
  let ownId = (): string => state.instanceId
  const followed = await followState(config, state, () => ownId(), log)
  const measures = await openMeasures(config, { config, catalog, database })
  const lines = requestLines(config, log)
  const onRow = tellAll(measures?.rows.row, lines?.row)
  const onAdopted = tellAll(measures?.rows.adopted, lines?.adopted)
  const recording = startLedger(config, state, { onRow, onAdopted }, log)
  const { ledger } = recording
  ownId = () => ledger.instance.id
  const onOpened = measures?.rows.breakerOpened
  const upstream = startUpstreams(config, state, { demo: followed.demo, onOpened, log })
  const answers = {
    encrypt: (answer: Buffer, requestId: string) => keeper.encryptAnswer(answer, requestId),
    decrypt: (encrypted: Buffer, requestId: string) => keeper.decryptAnswer(encrypted, requestId),
  }
  const idempotency = IdempotencyKeys.start({
    database,
    instance: ledger.instance,
    ...bounds,
    answers,
    log,
  })
  const limits = await openLimits(config, log)
  const storage = await openStorage(config, dataDir)
  const files = await openFiles(config, dataDir, { database, keeper })
  const { jobs, backgroundAnswers, watch } = openJobs(config, state, onRow, log)
  const held = new Reservations({
    database,
    instance: ledger.instance,
    waitMs: bounds.admitMs,
    moneyWaitMs: bounds.budgetWaitMs,
    // One connection is left for the common batches.
    lanesMax: bounds.moneyConnections - 1,
    ship: () => ledger.shipNow(),
  })
  const reservations = measures?.reservations(held) ?? held
  const queue = lazyQueues(config, url, log)
  return {
    ...followed,
    ...recording,
    ...upstream,
    measures,
    lines,
    answers,
    idempotency,
    limits,
    storage,
    files,
    jobs,
    backgroundAnswers,
    watch,
    reservations,
    queue,
  }
}

/** What follows the changes of others in Postgres, and what keeps it in order. */
async function followState(
  config: Config,
  { dataDir, secretKeys, file, database, catalog, keeper }: State,
  ownId: () => string,
  log: Log,
) {
  const { bounds } = config
  const bodyThreads = startBodyThreads({ bounds, keeper, log })
  const demo = file === undefined ? await startDemo() : undefined
  for (const refused of refusedBaseUrls(catalog.snapshot.channels.values())) log.warn({}, refused)
  const keys = keysOf(database, { peppers: keeper.ring('pepper'), ...bounds })
  const masters = new FollowedMasters({
    database,
    keeper,
    keys: secretKeys,
    instanceId: ownId,
    onLearned: () => bodyThreads.learn({ envelopeKeys: envelopeKeysOf(keeper) }),
  })
  const follower = await followRevisions(database, {
    keys,
    catalog,
    masters,
    pollMs: bounds.revisionPollMs,
    log,
  })
  const partitions = keepPartitions(database, { ...bounds, requestRetentionDays: rowDaysOf(bounds) }, log)
  const rollups = keepRollups(database, bounds, log)
  const attempts = keepAttempts(database, log)
  await database.upkeep.ask(({ sql }) => writeStorageQuota(sql, bounds.keptTenantBytesMax))
  const older = openArchive(config, { dataDir, database, log })
  return { bodyThreads, demo, keys, follower, partitions, rollups, attempts, older }
}

/** The ledger of this process, and what watches it. */
function startLedger(
  config: Config,
  { dataDir, url, database, instanceId, keeper }: State,
  { onRow, onAdopted }: Pick<LedgerOptions, 'onRow' | 'onAdopted'>,
  log: Log,
) {
  const { bounds } = config
  const requests: Context['requests'] = new RunningRequests()
  const ledger = Ledger.start({
    dataDir,
    databaseUrl: url,
    instanceId,
    durability: config.durability,
    sync: config.journalSync,
    bounds,
    log,
    onCut: (isCut, error) => cutRequests(requests, isCut, error),
    onRow,
    onAdopted,
  })
  const capturedAnswers = new CapturedAnswers({
    threads: startBodyThreads({ bounds: answerThreadBounds(bounds), keeper, log }),
    ledger: ledger.answers,
    bounds,
  })
  const ledgerWatch = new LedgerWatch({
    dataDir,
    ledger,
    othersPositions: () => othersPositions(database, ledger.instance.id),
    bounds,
    log,
  })
  const verifications = new Verifications({ database, log })
  const ledgerReports = reportLedger({
    database,
    instanceId: () => ledger.instance.id,
    state: () => ledgerWatch.state(),
    alertMs: bounds.alertMs,
  })
  return { requests, ledger, capturedAnswers, ledgerWatch, verifications, ledgerReports }
}

function startUpstreams(
  config: Config,
  { database, catalog }: State,
  {
    demo,
    onOpened,
    log,
  }: Pick<Parameters<typeof startRouting>[0], 'onOpened' | 'log'> & { demo: Demo | undefined },
) {
  const { bounds } = config
  const load = new ChannelLoad(Math.ceil(bounds.inFlightMax / 2))
  const upstreams = new Upstreams(
    bounds,
    load,
    demo === undefined ? new Map() : new Map([[new URL(demoBaseUrl).origin, demo.url]]),
  )
  catalog.follow(({ channels }) => upstreams.followChannels(channels))
  const modelLists = new FollowedLists({ catalog, upstreams, bounds: listBoundsOf(config), log })
  const routing = startRouting({ database, bounds, load, log, onOpened })
  return { upstreams, modelLists, routing }
}

/** Jobs of images, and of answers in the background. */
function openJobs({ bounds }: Config, { database, keeper }: State, onRow: LedgerOptions['onRow'], log: Log) {
  const ofJobs = {
    database,
    cipher: {
      encrypt: (text: string, owner: string) => keeper.encryptJob(text, owner),
      decrypt: (encrypted: Buffer, owner: string) => keeper.decryptJob(encrypted, owner),
    },
    waitMs: bounds.admitMs,
    queueWindow: bounds.imageQueueWindow,
    onRow,
  }
  const jobs = new Jobs({ ...ofJobs, waitingMax: bounds.imageWaitingMax, leaseMs: bounds.imageLeaseMs })
  const backgroundAnswers = new BackgroundAnswers({ ...ofJobs, waitingMax: bounds.backgroundWaitingMax })
  const watch = new JobWatch({ jobs, database, sweepMs: watchSweepMs, log })
  return { jobs, backgroundAnswers, watch }
}

function contextOf(config: Config, state: State, parts: Parts, log: Log): Context {
  const { bounds } = config
  const { url, generatedKeys, gatewayFile, database, catalog, keeper } = state
  const { older, measures, lines, storage, jobs, backgroundAnswers, watch, queue } = parts
  return {
    config,
    bounds,
    log,
    database,
    archive: older.archive,
    catalog,
    modelLists: parts.modelLists,
    keys: parts.keys,
    limits: parts.limits,
    onLimits: measures?.onLimits,
    onUnlogged: lines?.unlogged,
    traces: parts.traces,
    ledger: parts.ledger,
    ledgerWatch: parts.ledgerWatch,
    verifications: parts.verifications,
    reservations: parts.reservations,
    idempotency: parts.idempotency,
    keeper,
    answers: parts.answers,
    people: { database, secrets: sealedBy(keeper, 'totp'), bounds, log },
    alertCipher: sealedBy(keeper, 'alertWebhook'),
    upstreams: parts.upstreams,
    routing: parts.routing,
    refusals: rememberRefusals(database, log),
    heldAnswers: heldAnswers(database, log),
    kept: openKept(database, keeper, bounds),
    background: { jobs, answers: backgroundAnswers, watch, queue },
    files: parts.files,
    showsRouting: config.routingHeaders === 'show',
    deniedBetas: new Set(config.deniedBetas),
    envelope: makeEnvelope(keeper.ring('envelope')),
    redactionKey: keeper.redactionKey,
    images: {
      jobs,
      watch,
      queue,
      storage,
      links: new ImageLinks(keeper.ring('link'), bounds.imageLinkSeconds),
      webhookKeys: keeper.ring('webhook'),
    },
    publicUrl: config.publicUrl,
    privateWebhooks: config.webhookPrivateAddresses === 'allow',
    queues: queue.queues,
    requests: parts.requests,
    sockets: new OpenSockets(bounds),
    measures,
    keyRequests: new RunningCounts(),
    exports: new RunningExports(bounds),
    bodies: new BodyMemory(bounds),
    turns: new TurnBudget(turnBytes),
    bodyThreads: parts.bodyThreads,
    capturedAnswers: parts.capturedAnswers,
    leaving: false,
    draining: false,
    databaseUrl: url,
    generatedKeys,
    gatewayFile,
    close: () => closeAll(state, parts),
  }
}

/** Ship the remaining rows, and close each part before those that it needs. */
async function closeAll({ gatewayFile, database, embedded }: State, parts: Parts): Promise<void> {
  const { traces, partitions, rollups, attempts, ledgerReports, older, watch, queue, measures } = parts
  const { storage, files, limits, idempotency, follower, modelLists, upstreams, bodyThreads } = parts
  const { capturedAnswers, routing, demo, ledgerWatch, verifications, ledger } = parts
  const traced = traces?.end(lastTracesMs)
  await gatewayFile?.stop()
  for (const upkeep of [partitions, rollups, attempts, ledgerReports]) await upkeep.stop()
  older.close()
  await watch.end()
  await queue.close()
  measures?.stop()
  await Promise.all([storage.close(), files.storage.close()])
  await limits.close()
  await idempotency.end(lastShipmentMs)
  await follower.stop()
  modelLists.stop()
  await upstreams.destroy()
  await bodyThreads.close()
  await capturedAnswers.end(lastAnswersMs)
  await routing.end()
  await demo?.close()
  ledgerWatch.stop()
  await verifications.close()
  await ledger.end(lastShipmentMs)
  await traced
  await database.close()
  await embedded?.stop()
}
