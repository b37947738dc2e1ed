import { expect, onTestFinished, test } from 'vitest'
import { callAnew } from '../support/fresh-connection.ts'
import { freeKey, gatewayYaml, secretKey } from '../support/gateway-yaml.ts'
import { startProcessTestbed } from '../support/process-testbed.ts'
import { startTollgate, type TollgateProcess } from '../support/tollgate.ts'
import { patienceMs } from '../support/until.ts'

const headers = { authorization: `Bearer ${freeKey}` }

const modelsOf = ({ url }: TollgateProcess) => callAnew(`${url}/v1/models`, { headers })

test('every process sees a changed catalog and a revoked key, by notification or at its next poll', async () => {
  const bed = await startProcessTestbed({ env: { PROCESSES: '2' } })
  onTestFinished(() => bed.close())
  await expect.poll(bed.tollgate.stderr, { timeout: patienceMs }).toContain('all processes are ready')
  const other = await startTollgate({
    databaseUrl: bed.databaseUrl,
    gatewayYaml: gatewayYaml(bed.upstream.url),
    env: { SECRET_KEY: secretKey },
  })
  onTestFinished(() => other.kill9())
  const all = [bed.tollgate, other]
  expect((await Promise.all(all.map(modelsOf))).map(({ status }) => status)).toEqual([200, 200])

  /** Waits until ten calls in a row see it. Each has a connection of its own, and so reaches every process. */
  const until = async (isSo: (answer: { status: number; text: string }) => boolean) => {
    const began = performance.now()
    await expect
      .poll(
        async () => (await Promise.all([...all, ...all, ...all, ...all, ...all].map(modelsOf))).every(isSo),
        {
          timeout: patienceMs,
          interval: 10,
        },
      )
      .toBe(true)
    return Math.round(performance.now() - began)
  }
  await bed.database.sql`INSERT INTO models (id, managed_by) VALUES ('added-later', 'admin')`
  const catalogMs = await until(({ text }) => text.includes('added-later'))
  await bed.database.sql`UPDATE keys SET disabled_at = now()`
  const keyMs = await until(({ status }) => status === 401)
  console.log(`catalog seen after ${catalogMs} ms, revocation after ${keyMs} ms`)
}, 180_000)
