import { afterAll, beforeAll, expect, test } from 'vitest'
import { gatewayYaml, secretKey } from '../support/gateway-yaml.ts'
import { adminToken, operatorClient } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { startTollgate, type TollgateProcess } from '../support/tollgate.ts'
import { until } from '../support/until.ts'

/** What an admin does in one process, the other follows within a second. */

let bed: Testbed
let other: TollgateProcess
let admin: ReturnType<typeof operatorClient>
beforeAll(async () => {
  const env = { ADMIN_TOKEN: adminToken }
  bed = await startTestbed({ env })
  other = await startTollgate({
    databaseUrl: bed.databaseUrl,
    gatewayYaml: gatewayYaml(bed.upstream.url),
    env: { ...env, SECRET_KEY: secretKey },
  })
  admin = operatorClient(bed.tollgate.url)
})
afterAll(async () => {
  await other?.stop()
  await bed?.close()
})

const statusAt = async (url: string, secret: string) =>
  (await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } })).status

/** Waits until both processes answer with this status. */
async function bothAnswer(secret: string, wanted: number): Promise<void> {
  await Promise.all(
    [bed.tollgate.url, other.url].map((url) =>
      until(async () => ((await statusAt(url, secret)) === wanted ? true : undefined)),
    ),
  )
}

test('a key that is made, rotated and revoked in one process is so in both', async () => {
  const made = await admin('POST', 'keys', { tenant: 'free', name: 'short-lived' })
  const [id, first] = [String(made.body.id), String(made.body.secret)]
  await bothAnswer(first, 200)
  const rotated = await admin('POST', `keys/${id}/rotate`, { grace_seconds: 3 })
  const second = String(rotated.body.secret)
  await bothAnswer(second, 200)
  const end = Date.parse(String(rotated.body.former_secret_until))
  if (Date.now() < end - 2_000)
    expect([await statusAt(bed.tollgate.url, first), await statusAt(other.url, first)]).toEqual([200, 200])
  // No row changes when the grace ends.
  await bothAnswer(first, 401)
  expect(Date.now()).toBeGreaterThanOrEqual(end)
  await bothAnswer(second, 200)
  await admin('POST', `keys/${id}/revoke`)
  await bothAnswer(second, 401)
})
