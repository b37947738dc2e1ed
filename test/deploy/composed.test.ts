import OpenAI from 'openai'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { amount } from '../support/amount.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { seeded } from '../support/random.ts'
import { loopYaml } from '../support/tool-loops.ts'
import { holdsFor, until } from '../support/until.ts'
import { startVendor } from '../support/vendor/vendor.ts'
import { ours } from './compose-file.ts'
import { startComposed } from './composed.ts'
import { expectCallsAreRows, stackYaml, startCalls } from './container-load.ts'
import { buildImage, docker, started, untilWell } from './containers.ts'
import { expectLoops } from './sdk-loops.ts'
import { startLoad } from './stream-load.ts'

/** docker-compose.yml by Docker Compose, with SeaweedFS as its store. */

const streams = amount('STACK_STREAMS', { test: 40, chaos: 200 })
const kills = amount('CONTAINER_KILLS', { test: 3, chaos: 50 })
const partitions = amount('CONTAINER_PARTITIONS', { test: 1, chaos: 5 })
const partitionMs = 20_000

beforeAll(() => buildImage(), 900_000)

test('each SDK runs its tool loops, and files and images are in the store', async () => {
  const vendor = await startVendor({ tokenDelayMs: 0 })
  onTestFinished(() => vendor.close())
  const stack = await startComposed(
    (_, painter, origin = '') => withPainter(loopYaml(origin), painter),
    [vendor.url],
  )
  await expectLoops(stack, stack.databaseUrl)

  const openai = new OpenAI({
    baseURL: `${stack.url}/v1`,
    apiKey: freeKey,
    fetch: stack.fetch,
    maxRetries: 0,
  })
  const painted = await openai.images.generate({ model: 'draw', prompt: 'a dog', response_format: 'url' })
  const image = await stack.fetch(painted.data?.[0]?.url ?? '')
  expect(image.headers.get('content-type')).toBe('image/png')
  const authorization = `Bearer ${freeKey}`
  // The SDK sends files by the FormData of Node's own fetch, which does not know Caddy's authority.
  const parts = [
    'name="purpose"\r\n\r\nuser_data',
    'name="file"; filename="a.txt"\r\ncontent-type: text/plain\r\n\r\nkept in the store',
  ]
  const sent = await stack.fetch(`${stack.url}/v1/files`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'multipart/form-data; boundary=b' },
    body: `${parts.map((part) => `--b\r\ncontent-disposition: form-data; ${part}\r\n`).join('')}--b--\r\n`,
  })
  const { id } = Object(await sent.json())
  const content = await stack.fetch(`${stack.url}/v1/files/${id}/content`, { headers: { authorization } })
  expect(await content.text()).toBe('kept in the store')
}, 600_000)

test(`each service is replaced under ${streams} streams, as the documents say: no request is lost`, async () => {
  const stack = await startComposed(stackYaml)
  const load = startLoad(stack, streams)
  await load.more()
  for (const [name] of ours) {
    await stack.compose('up', '--detach', '--no-deps', '--wait', '--force-recreate', '--no-build', name)
    await load.more()
  }
  await stack.compose('restart', 'redis')
  await untilWell(stack.containerOf('redis'))
  await load.more()
  load.mayRefuseImages(true)
  await stack.compose('restart', 'postgres')
  await untilWell(stack.containerOf('postgres'))
  await load.more()
  const { answered, painted, refused, lost } = await load.stop()
  expect(lost).toEqual([])
  await expectCallsAreRows(stack, answered)
  console.info(
    `${answered.length} streams and ${painted} images over six restarts: none lost; ${refused.length} refused`,
  )
}, 900_000)

test(
  `${kills} kills, ${partitions} partitions and a full volume under load: calls are rows`,
  async () => {
    const stack = await startComposed(stackYaml)
    const calls = startCalls(stack)
    const random = seeded(1)
    const script = "fetch('http://127.0.0.1:8787/readyz').then(({ status }) => console.log(status))"
    const readyStatus = async () =>
      Number(await docker('exec', stack.containerOf('gateway-1'), 'node', '-e', script))
    const victims = [...started, 's3']
    const steps = [
      ...Array.from({ length: kills }, () => ({ kind: 'kill', service: random.pick(victims) })),
      // Postgres keeps its published port, which the test itself needs.
      ...Array.from({ length: partitions }, () => ({
        kind: 'partition',
        service: random.pick(['gateway-1', 'gateway-2', 'worker-1', 'redis', 's3']),
      })),
    ]
    for (const { kind, service } of random.shuffle(steps)) {
      await calls.more(20)
      if (kind === 'kill') await stack.kill9(service)
      else {
        const mend = await stack.cutOff(service)
        // It stays well: its health check asks no other service.
        await holdsFor(partitionMs, () => untilWell(stack.containerOf(service)))
        await mend()
        await untilWell(stack.containerOf(service))
      }
    }
    await calls.more(20)
    stack.disk.fill()
    await until(async () => (await readyStatus()) === 503)
    await calls.more(100)
    stack.disk.free()
    await until(async () => (await readyStatus()) === 200)
    await calls.more(100)
    await calls.stop()
    await expectCallsAreRows(stack, calls.answered)
  },
  300_000 + kills * 30_000 + partitions * 60_000,
)

/** loopYaml with a channel for images. */
function withPainter(yaml: string, painter: string): string {
  return yaml
    .replace('models:\n', 'models:\n  - { id: draw, price: { image: "0.04" } }\n')
    .replace(
      'channels:\n',
      `channels:\n  - { name: paint, protocols: { openai-images: ${painter} }, api_keys: [k], models: [draw], allow_private_address: true }\n`,
    )
}
