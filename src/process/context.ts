import { randomUUIDv7 } from 'node:crypto'
import { resolve } from 'node:path'
import { startDemo } from 'tollgate-demo/server.ts'
import { applyGatewayFile, checkGatewayFile } from '../access/apply-gateway-file.ts'
import type { GeneratedKey } from '../access/apply-tenants.ts'
import { ensureFirstKey } from '../access/first-run.ts'
import { GatewayFileFollower } from '../access/follow-gateway-file.ts'
import { logFileOutcome } from '../access/gateway-file-log.ts'
import { readWithState } from '../access/gateway-file-state.ts'
import { type AnswerCipher, IdempotencyKeys } from '../access/idempotency-keys.ts'
import { type Keys, keysOf } from '../access/keys.ts'
import { type FollowedRevisions, followRevisions } from '../access/revision.ts'
import { keepAttempts } from '../access/users/keep-attempts.ts'
import type { People } from '../access/users/people.ts'
import type { DestinationCipher } from '../alerts/destination.ts'
import { reportLedger } from '../alerts/report-ledger.ts'
import type { BodyThreads } from '../bodies/body-threads.ts'
import { CapturedAnswers } from '../bodies/captured-answers.ts'
import { RememberedBodies } from '../bodies/remembered-bodies.ts'
import { Catalog } from '../catalog/catalog.ts'
import { applyDemo, demoBaseUrl } from '../catalog/demo.ts'
import type { GatewaySource } from '../catalog/gateway-source.ts'
import { rememberRefusals } from '../catalog/refusals.ts'
import type { Config } from '../config/config.ts'
import { checkFirst } from '../db/check-first.ts'
import type { Connections } from '../db/connections.ts'
import { type Database, openDatabase } from '../db/database.ts'
import { startEmbedded } from '../db/embedded.ts'
import { prepareDatabase, whenReachable } from '../db/migrate.ts'
import { checkPooler } from '../db/pooler.ts'
import { writeStorageQuota } from '../db/storage-quota.ts'
import { BodyMemory } from '../http/body-memory.ts'
import { cutRequests } from '../http/cut-requests.ts'
import { RunningRequests } from '../http/running-requests.ts'
import { TurnBudget } from '../http/turn-budget.ts'
import type { ImageGateway } from '../images/image-gateway.ts'
import { BackgroundAnswers } from '../jobs/answers/background-answers.ts'
import { Jobs } from '../jobs/jobs.ts'
import type { Queues } from '../jobs/queue/queue.ts'
import { JobWatch } from '../jobs/watch.ts'
import { Verifications } from '../ledger-tools/verifications.ts'
import { Reservations } from '../money/reservations.ts'
import { makeEnvelope } from '../protocols/envelope.ts'
import { ChannelLoad } from '../routing/channel-load.ts'
import { type RoutingOptions, startRouting } from '../routing/routing.ts'
import { type Clock, systemClock } from '../runtime/clock.ts'
import { Opened, openAll } from '../runtime/opened.ts'
import { RunningCounts } from '../runtime/running-counts.ts'
import { FollowedMasters } from '../secrets/follow-masters.ts'
import { prepareKeeper, readKeeper } from '../secrets/open-masters.ts'
import { resolveSecretKey, type SecretKeeper } from '../secrets/secret-key.ts'
import { heldAnswers } from '../shipping/held-answers.ts'
import { registerProcess } from '../shipping/instances.ts'
import { Ledger, type LedgerOptions } from '../shipping/ledger.ts'
import { othersPositions } from '../shipping/ledger-state-queries.ts'
import { LedgerWatch } from '../shipping/ledger-watch.ts'
import { OpenSockets } from '../sockets/open-sockets.ts'
import type { ClientFiles } from '../state/files/client-files.ts'
import { ImageLinks } from '../storage/links.ts'
import type { Log } from '../telemetry/log.ts'
import { refusedBaseUrls } from '../upstream/allowed-addresses.ts'
import { FollowedLists } from '../upstream/model-lists/follow-lists.ts'
import { Upstreams } from '../upstream/upstreams.ts'
import type { Archive } from '../usage/archive/archive.ts'
import { openArchive, requireDuck, rowDaysOf } from '../usage/archive/open-archive.ts'
import { RunningExports } from '../usage/log/running-exports.ts'
import { keepPartitions } from '../usage/partitions.ts'
import { keepRollups } from '../usage/rollups.ts'
import type { Measures } from './measures/measures.ts'
import { requestLines } from './measures/request-lines.ts'
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

/** Everything that a process holds open. It is created once, closed once, and passed as an argument. */
export interface Context extends ImageGateway {
  config: Config
  log: Log
  ledger: Ledger
  database: Database
  /** The days of the usage log that are no longer in Postgres. */
  archive: Archive
  /** The exports of the usage log that are running here. */
  exports: RunningExports
  catalog: Catalog
  files: ClientFiles
  keys: Keys
  revisions: FollowedRevisions
  /** For threads, which open their own connections. */
  databaseUrl: string
  /** The keys generated by this start. Their secrets cannot be read later. */
  generatedKeys: GeneratedKey[]
  /** Undefined if GATEWAY_CONFIG is not set. */
  gatewayFile: GatewayFileFollower | undefined
  /** Watches the state of the ledger. */
  ledgerWatch: LedgerWatch
  verifications: Verifications
  /** Encrypts, signs and hashes for this process. */
  keeper: SecretKeeper
  /** Encrypts the responses stored for repeats, each for its request. */
  answers: AnswerCipher
  /** What the code for users of the admin API needs. */
  people: People
  /** Seals the webhooks of alerts. */
  alertCipher: DestinationCipher
  /** Returns the queues, which the first call opens. A process that queues nothing does not load them. */
  queues(): Promise<Queues>
  /** The WebSockets of clients. */
  sockets: OpenSockets
  /** Undefined if nothing is measured. */
  measures: Measures | undefined
  /**
   * Ships the remaining rows, then closes all connections. If some parts could not be closed, rejects once
   * the rest are closed.
   */
  close(): Promise<void>
}

/** The interval between reads of the jobs for which clients wait, because notifications may be lost. */
const watchSweepMs = 1_000

/**
 * The number of bytes of large bodies that are processed per turn of the event loop, which takes less than a
 * millisecond.
 */
const turnBytes = 512 * 1024

/**
 * The longest wait at the end of a process for Postgres to accept the last rows. The journal keeps the rest.
 */
const lastShipmentMs = 5_000

/** The longest wait at the end of a process for the trace collector. */
const lastTracesMs = 3_000

/** The longest wait at the end of a process for captured responses that are being assembled. */
const lastAnswersMs = 2_000

/**
 * Opens all parts of a process, each after the parts that it needs. gateway.yaml reads `${NAME}` from
 * `environment`. `keptUrl` is the address of the embedded Postgres if another process runs it. If a part
 * cannot be opened, closes the parts opened so far and rejects with an Error for the operator. `opened`
 * closes each part before those that it needs: the remaining rows are shipped before the connections to
 * Postgres are closed. Threads have their own clocks.
 */
export async function openContext(
  config: Config,
  environment: Record<string, string | undefined>,
  ownLog: Log,
  keptUrl?: string,
  opened: Opened = new Opened(ownLog),
  clock: Clock = systemClock,
): Promise<Context> {
  requireDuck(config)
  return await openAll(opened, async () => {
    const { traces, log } = await openTraces(config, ownLog)
    let traced: Promise<void> | undefined
    const endTraces = () => {
      traced ??= traces?.end(lastTracesMs)
      return traced
    }
    opened.add('traces', endTraces)
    const state = { clock, ...(await openState(config, environment, { keptUrl, opened, log })) }
    const parts = { traces, ...(await openParts(config, state, opened, log)) }
    const { gatewayFile } = state
    if (gatewayFile !== undefined) opened.add('gateway.yaml', () => gatewayFile.stop())
    // Everything else is closed while the collector receives the last spans.
    opened.add('the span queue', () => void endTraces()?.catch(() => {}))
    const context = contextOf(config, state, parts, { opened, log })
    parts.measures?.show(context)
    return context
  })
}

type State = Awaited<ReturnType<typeof openState>> & { clock: Clock }
type Parts = Awaited<ReturnType<typeof openParts>> & Pick<Context, 'traces'>

/** Opens Postgres and makes all the changes there that a start requires. */
async function openState(
  config: Config,
  environment: Record<string, string | undefined>,
  { keptUrl, opened, log }: { keptUrl: string | undefined; opened: Opened; log: Log },
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
  const isEmbedded = config.databaseUrl === undefined
  // An invalid file must not lead to the creation of a database.
  if (isEmbedded && keptUrl === undefined) file?.parse()
  const url = config.databaseUrl ?? keptUrl ?? (await openEmbedded(dataDir, opened, log))

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
  opened.add('the database', () => database.close())
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
      await fillCatalog(connections, keeper, { file, isEmbedded, generatedKeys, log })
    })
    // This happens before the process has a journal, so that no other process takes that journal for one of a
    // dead process.
    await registerProcess(database, { instanceId, pid: process.pid, durability: config.durability })
    await database.upkeep.ask(({ sql }) => writeStorageQuota(sql, bounds.keptTenantBytesMax))
    return { catalog: await Catalog.load(database, keeper, log), keeper }
  })
  return {
    dataDir,
    secretKeys,
    file,
    url,
    generatedKeys,
    gatewayFile,
    database,
    instanceId,
    catalog,
    keeper,
  }
}

async function openEmbedded(dataDir: string, opened: Opened, log: Log): Promise<string> {
  const embedded = await startEmbedded({ dataDir, log })
  opened.add('the embedded Postgres', () => embedded.stop())
  return embedded.url
}

/** Applies gateway.yaml, or else creates what the first start of a gateway without that file creates. */
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

/** Opens all parts besides Postgres, each after the parts that it needs to close cleanly. */
async function openParts(config: Config, state: State, opened: Opened, log: Log) {
  const { bounds } = config
  const { clock, dataDir, url, database, catalog, keeper } = state
  const measures = await openMeasures(config, { config, catalog, database })
  opened.add('measures', () => measures?.stop())
  const lines = requestLines(config, log)
  const onRow = tellAll(measures?.rows.row, lines?.row)
  const onAdopted = tellAll(measures?.rows.adopted, lines?.adopted)
  const recording = startLedger(config, state, { onRow, onAdopted, opened, log })
  const { ledger } = recording
  const onOpened = measures?.rows.breakerOpened
  const upstream = await startUpstreams(config, state, { ledger, onOpened, opened, log })
  const followed = await followState(config, state, {
    ledger,
    bodyThreads: upstream.bodyThreads,
    opened,
    log,
  })
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
  opened.add('stored responses', () => idempotency.end(lastShipmentMs))
  const limits = await openLimits(config, clock, log)
  opened.add('limits', () => limits.close())
  const storage = await openStorage(config, dataDir, opened)
  const files = await openFiles(config, dataDir, { database, keeper, opened })
  const held = new Reservations({
    database,
    instance: ledger.instance,
    waitMs: bounds.admitMs,
    moneyWaitMs: bounds.budgetWaitMs,
    // One connection is reserved for the shared batches.
    lanesMax: bounds.moneyConnections - 1,
    ship: () => ledger.shipNow(),
    clock,
  })
  const reservations = measures?.reservations(held) ?? held
  const queue = lazyQueues(config, url, log)
  opened.add('queues', () => queue.close())
  const ofJobs = openJobs(config, state, onRow, log)
  opened.add('the job watch', () => ofJobs.watch.end())
  const older = openArchive(config, { dataDir, database, log })
  opened.add('the archive', () => older.close())
  keepInOrder(config, state, { recording, opened, log })
  return {
    ...recording,
    ...upstream,
    ...followed,
    ...ofJobs,
    measures,
    lines,
    answers,
    idempotency,
    limits,
    storage,
    files,
    reservations,
    queue,
    older,
  }
}

/** Starts the ledger of this process and what watches it. */
function startLedger(
  config: Config,
  { clock, dataDir, url, database, instanceId }: State,
  {
    onRow,
    onAdopted,
    opened,
    log,
  }: Pick<LedgerOptions, 'onRow' | 'onAdopted'> & { opened: Opened; log: Log },
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
    clock,
    log,
    onCut: (isCut, error) => cutRequests(requests, isCut, error),
    onRow,
    onAdopted,
  })
  opened.add('the ledger', () => ledger.end(lastShipmentMs))
  const verifications = new Verifications({ database, log })
  opened.add('verifications', () => verifications.close())
  const ledgerWatch = new LedgerWatch({
    dataDir,
    ledger,
    othersPositions: () => othersPositions(database, ledger.instance.id),
    bounds,
    clock,
    log,
  })
  opened.add('the ledger watch', () => ledgerWatch.stop())
  return { requests, ledger, ledgerWatch, verifications }
}

/** Starts what calls upstreams, and the threads for request bodies and responses. */
async function startUpstreams(
  config: Config,
  { clock, database, catalog, keeper, file }: State,
  {
    ledger,
    onOpened,
    opened,
    log,
  }: Pick<RoutingOptions, 'onOpened' | 'log'> & { ledger: Ledger; opened: Opened },
) {
  const { bounds } = config
  const demo = file === undefined ? await startDemo() : undefined
  opened.add('the demo', () => demo?.close())
  const load = new ChannelLoad(Math.ceil(bounds.inFlightMax / 2))
  const { instance } = ledger
  const routing = startRouting({ instance, database, catalog, bounds, load, clock, log, onOpened })
  opened.add('routing', () => routing.end())
  const capturedAnswers = new CapturedAnswers({
    threads: startBodyThreads({ bounds: answerThreadBounds(bounds), keeper, log }),
    ledger: ledger.answers,
    bounds,
  })
  opened.add('captured answers', () => capturedAnswers.end(lastAnswersMs))
  const bodyThreads = startBodyThreads({ bounds, keeper, log })
  opened.add('body threads', () => bodyThreads.close())
  const upstreams = new Upstreams(
    bounds,
    load,
    demo === undefined ? new Map() : new Map([[new URL(demoBaseUrl).origin, demo.url]]),
  )
  opened.add('upstream connections', () => upstreams.destroy())
  for (const refused of refusedBaseUrls(catalog.snapshot.channels.values())) log.warn({}, refused)
  catalog.follow(({ channels }) => upstreams.followChannels(channels))
  const modelLists = new FollowedLists({ catalog, upstreams, bounds: listBoundsOf(config), log })
  opened.add('model lists', () => modelLists.stop())
  return { routing, capturedAnswers, bodyThreads, upstreams, modelLists }
}

/** Starts following the changes that others make in Postgres. */
async function followState(
  { bounds }: Config,
  { secretKeys, database, catalog, keeper }: State,
  {
    ledger,
    bodyThreads,
    opened,
    log,
  }: { ledger: Ledger; bodyThreads: BodyThreads; opened: Opened; log: Log },
) {
  const keys = keysOf(database, { peppers: keeper.ring('pepper'), ...bounds })
  const masters = new FollowedMasters({
    database,
    keeper,
    keys: secretKeys,
    instanceId: () => ledger.instance.id,
    onLearned: () => bodyThreads.learn({ envelopeKeys: envelopeKeysOf(keeper) }),
  })
  const rememberedBodies = new RememberedBodies(bounds.rememberedBodiesBytesMax)
  const follower = await followRevisions(database, {
    keys,
    rememberedBodies,
    catalog,
    masters,
    pollMs: bounds.revisionPollMs,
    log,
  })
  opened.add('the follower of keys and catalog', () => follower.stop())
  return { keys, rememberedBodies, revisions: follower }
}

/** Starts the maintenance of Postgres, and the reports about the ledger stored there. */
function keepInOrder(
  { bounds }: Config,
  { clock, database }: State,
  {
    recording: { ledger, ledgerWatch },
    opened,
    log,
  }: { recording: ReturnType<typeof startLedger>; opened: Opened; log: Log },
): void {
  const reports = reportLedger({
    database,
    instanceId: () => ledger.instance.id,
    state: () => ledgerWatch.state(),
    alertMs: bounds.alertMs,
  })
  opened.add('ledger reports', () => reports.stop())
  const attempts = keepAttempts(database, log)
  opened.add('sign-in attempts', () => attempts.stop())
  const rollups = keepRollups(database, bounds, log)
  opened.add('rollups', () => rollups.stop())
  const plan = { ...bounds, requestRetentionDays: rowDaysOf(bounds) }
  const partitions = keepPartitions(database, plan, clock, log)
  opened.add('partitions', () => partitions.stop())
}

/** Opens the image jobs and the background answers. */
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

function contextOf(
  config: Config,
  state: State,
  parts: Parts,
  { opened, log }: { opened: Opened; log: Log },
): Context {
  const { bounds } = config
  const { clock, url, generatedKeys, gatewayFile, database, catalog, keeper } = state
  const { older, measures, lines, storage, jobs, backgroundAnswers, watch, queue } = parts
  return {
    config,
    bounds,
    clock,
    log,
    database,
    archive: older.archive,
    catalog,
    modelLists: parts.modelLists,
    keys: parts.keys,
    revisions: parts.revisions,
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
    jobs,
    jobWatch: watch,
    jobQueue: queue,
    backgroundAnswers,
    files: parts.files,
    showsRouting: config.routingHeaders === 'show',
    deniedBetas: new Set(config.deniedBetas),
    envelope: makeEnvelope(keeper.ring('envelope')),
    redactionKey: keeper.redactionKey,
    images: {
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
    rememberedBodies: parts.rememberedBodies,
    leaving: false,
    draining: false,
    databaseUrl: url,
    generatedKeys,
    gatewayFile,
    close: () => opened.close(),
  }
}
