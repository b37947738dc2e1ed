import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { type Context, openContext } from '../../src/context.ts'
import { drain } from '../../src/http/drain.ts'
import { listen, makeServer } from '../../src/http/http-server.ts'
import { intakeOf } from '../../src/stages/intake.ts'
import { makeLog } from '../../src/telemetry/log.ts'
import { freshDatabase } from './database.ts'
import { gatewayYaml, secretKey } from './testbed.ts'
import { type ScriptedUpstream, startUpstream } from './upstream.ts'

/** A whole API process of Tollgate inside the process of the test, which can look at what reaches its server. */
export interface InProcess {
  context: Context
  server: Server
  port: number
  upstream: ScriptedUpstream
  row(id: string | undefined): Promise<Record<string, unknown>>
  /** The usage log, after the journal is shipped. */
  rows(): Promise<Record<string, unknown>[]>
  close(): Promise<void>
}

/** `prepare` is called with the server before that listens. */
export async function startInProcess(
  env: Record<string, string>,
  prepare: (server: Server) => void = () => {},
  yaml: (upstreamUrl: string) => string = gatewayYaml,
): Promise<InProcess> {
  const [{ url, drop }, upstream] = await Promise.all([freshDatabase(), startUpstream()])
  const home = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
  const file = join(home, 'gateway.yaml')
  writeFileSync(file, yaml(upstream.url))
  const config = readConfig({
    ROLE: 'api',
    PORT: '0',
    DATA_DIR: join(home, 'data'),
    DATABASE_URL: url,
    GATEWAY_CONFIG: file,
    SECRET_KEY: secretKey,
    SHIP_INTERVAL_MS: '20',
    DRAIN_ON_SHUTDOWN_MS: '500',
    MODEL_LIST_REFRESH_MS: '0',
    ...env,
  })
  const context = await openContext(config, {}, makeLog('silent'))
  const server = makeServer(context, intakeOf(context, makeApp(context)))
  prepare(server)
  await listen(server, { host: '127.0.0.1', port: 0 })
  const rows = async () => {
    const deadline = Date.now() + 30_000
    while (!(await context.ledger.shipNow())) {
      if (Date.now() > deadline) throw new Error('the journal was not shipped within 30 s')
    }
    return [...(await context.database.state.ask(({ sql }) => sql`SELECT * FROM requests ORDER BY id`))]
  }
  return {
    context,
    server,
    port: (server.address() as AddressInfo).port,
    upstream,
    async row(id) {
      const row = (await rows()).find((one) => one.id === id)
      if (row === undefined) throw new Error(`no row ${id}`)
      return row
    },
    rows,
    async close() {
      await drain(context, server)
      await context.close()
      await upstream.close()
      await drop()
      rmSync(home, { recursive: true, force: true })
    },
  }
}
