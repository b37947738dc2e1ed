import { randomUUIDv7 } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import type { GeneratedKey } from './access/apply-tenants.ts'
import { ensureFirstKey } from './access/first-run.ts'
import { keysOf } from './access/keys.ts'
import { followRevisions } from './access/revision.ts'
import { resolveSecretKey, SecretKeeper } from './access/secret-key.ts'
import { applyGatewayFile } from './catalog/apply.ts'
import { Catalog } from './catalog/catalog.ts'
import { applyDemo, demoBaseUrl } from './catalog/demo.ts'
import { readGatewayYaml } from './catalog/gateway-yaml.ts'
import type { Config } from './config.ts'
import { type Database, openDatabase } from './db/database.ts'
import { startEmbedded } from './db/embedded.ts'
import { prepareDatabase, waitForDatabase } from './db/migrate.ts'
import { startDemoUpstream } from './demo/upstream.ts'
import type { Gateway } from './gateway/gateway.ts'
import { Upstreams } from './gateway/upstream.ts'
import { heldAnswers } from './ledger/held-answers.ts'
import { Ledger } from './ledger/ledger.ts'
import { keepPartitions } from './ledger/partitions.ts'
import { Reservations } from './ledger/reservations.ts'
import { memoryLimits } from './limits/memory.ts'
import { makeEnvelope } from './protocols/envelope.ts'
import type { Log } from './telemetry/log.ts'

/** What a process holds open: built once, closed once, passed as an argument. */
export interface Context extends Gateway {
  config: Config
  log: Log
  database: Database
  /** Keys made at this start, whose secrets are shown only now. */
  generatedKeys: GeneratedKey[]
  /** Settle and ship what is left, then let go of everything. */
  close(): Promise<void>
}

/** How long the end of a process waits for Postgres to take the last rows; the journal keeps what it does not take. */
const lastShipmentMs = 5_000

/**
 * Open everything a process needs, in the order of need. `environment` is where gateway.yaml looks up `${NAME}`.
 * Rejects with an Error for the operator when something cannot be had.
 */
export async function openContext(
  config: Config,
  environment: Record<string, string | undefined>,
  log: Log,
  onFenced: (message: string) => void,
): Promise<Context> {
  const { bounds } = config
  const dataDir = resolve(config.dataDir)
  const say = (message: string) => log.info(message)
  const file =
    config.gatewayConfig === undefined ? undefined : readGatewayFile(config.gatewayConfig, environment)
  const embedded = config.databaseUrl === undefined ? await startEmbedded({ dataDir, log: say }) : undefined
  const url = config.databaseUrl ?? embedded?.url ?? ''
  await waitForDatabase(url, bounds.databaseWaitMs, say)
  const keeper = new SecretKeeper(
    resolveSecretKey({ secretKey: config.secretKey, dataDir, embedded: embedded !== undefined }),
  )

  const generatedKeys: GeneratedKey[] = []
  await prepareDatabase(url, async (database) => {
    if (file !== undefined) {
      generatedKeys.push(...(await applyGatewayFile(database, file, keeper)))
      return
    }
    const first = await ensureFirstKey(database, keeper)
    if (first !== undefined) generatedKeys.push(first)
    if (first !== undefined || embedded !== undefined) await applyDemo(database, keeper)
  })

  const database = openDatabase(url)
  const demo = file === undefined ? await startDemoUpstream() : undefined
  const catalog = await Catalog.load(database, keeper, (message) => log.warn(message))
  const keys = keysOf(database, { pepper: keeper.pepper, ...bounds })
  const follower = await followRevisions(database, {
    keys,
    catalog,
    pollMs: bounds.revisionPollMs,
    log: (message) => log.warn(message),
  })
  const partitions = keepPartitions(database, bounds, say)
  const instanceId = randomUUIDv7()
  const ledger = Ledger.start({
    dataDir,
    databaseUrl: url,
    instanceId,
    sync: config.journalSync,
    bounds,
    log,
    onFenced,
  })
  const upstreams = new Upstreams(
    bounds,
    demo === undefined ? new Map() : new Map([[new URL(demoBaseUrl).origin, demo.url]]),
  )

  return {
    config,
    bounds,
    log,
    database,
    catalog,
    keys,
    limits: memoryLimits(),
    ledger,
    reservations: new Reservations({ database, instanceId, waitMs: bounds.admitMs }),
    upstreams,
    heldAnswers: heldAnswers(database, (message) => log.warn(message)),
    deniedBetas: new Set(config.deniedBetas),
    envelope: makeEnvelope(keeper.envelopeKey),
    redactionKey: keeper.redactionKey,
    calls: new Set(),
    draining: false,
    generatedKeys,
    async close() {
      partitions.stop()
      await follower.stop()
      await upstreams.destroy()
      await demo?.close()
      await ledger.end(lastShipmentMs)
      await database.close()
      await embedded?.stop()
    },
  }
}

function readGatewayFile(path: string, environment: Record<string, string | undefined>) {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    throw new Error(`GATEWAY_CONFIG: ${path} cannot be read`, { cause })
  }
  return readGatewayYaml(text, { path: basename(path), env: environment })
}
