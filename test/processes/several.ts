import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { freshDatabase } from '../support/database.ts'
import { callAnew } from '../support/fresh-connection.ts'
import { freeKey, gatewayYaml, secretKey } from '../support/gateway-yaml.ts'
import { startTollgate, type TollgateProcess } from '../support/tollgate.ts'
import { patienceMs } from '../support/until.ts'
import { startUpstream } from '../support/upstream.ts'

export const patient = { timeout: patienceMs, interval: 20 }

/** Several processes of one Tollgate, all of which serve. They end with the test. */
export async function startSeveral(
  options: { env?: Record<string, string>; postgres?: 'embedded' } = {},
): Promise<TollgateProcess> {
  const upstream = await startUpstream()
  onTestFinished(() => upstream.close())
  const database = options.postgres === 'embedded' ? undefined : await freshDatabase()
  onTestFinished(async () => database?.drop())
  const tollgate = await startTollgate({
    gatewayYaml: gatewayYaml(upstream.url),
    dataDir: temporary(),
    ...(database && { databaseUrl: database.url }),
    env: { SECRET_KEY: secretKey, PROCESSES: '2', SHIP_INTERVAL_MS: '20', ...options.env },
  })
  onTestFinished(async () => {
    if (tollgate.child.exitCode === null && tollgate.child.signalCode === null) await tollgate.stop()
  })
  await expect.poll(tollgate.stderr, patient).toContain('all processes are ready')
  return tollgate
}

/** A directory for one test. */
export function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-processes-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

const headers = { authorization: `Bearer ${freeKey}`, 'content-type': 'application/json' }
const messages = [{ role: 'user', content: 'x' }]

/** The status of a call on a new connection. */
export async function ask({ url }: TollgateProcess): Promise<number> {
  const body = JSON.stringify({ model: 'priced', messages })
  return (await callAnew(`${url}/v1/chat/completions`, { method: 'POST', headers, body })).status
}

/** A stream whose headers have arrived. */
export function openStream({ url }: TollgateProcess, model: string): Promise<Response> {
  const body = JSON.stringify({ model, stream: true, messages })
  return fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
}
