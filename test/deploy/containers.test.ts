import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { query } from '../support/embedded.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { ours, variables } from './compose-file.ts'
import { expectCallsAreRows, stackYaml, startCalls } from './container-load.ts'
import { buildImage, docker, image, label, left, startContainers, started } from './containers.ts'

/** The image, and what docker-compose.yml starts, by `docker run`, in the engine that Docker's client finds. */

const withoutDuck = `${image}-without-duckdb`
const buildMs = 900_000
beforeAll(async () => {
  const begun = performance.now()
  await buildImage()
  await buildImage(withoutDuck, '--build-arg', 'DUCKDB=')
  const sizes = [image, withoutDuck].map((name) => docker('inspect', '--format', '{{.Size}}', name))
  const [whole, less] = (await Promise.all(sizes)).map((bytes) => `${Math.round(Number(bytes) / 1e6)} MB`)
  const seconds = ((performance.now() - begun) / 1000).toFixed(0)
  console.info(`The image has ${whole}, without DuckDB ${less}; both were built in ${seconds} s.`)
}, buildMs)

afterAll(async () => {
  expect(await left()).toEqual({ containers: [], networks: [], volumes: [], bridges: [], mounts: [] })
})

/** What a shell prints in a container of an image, whose root is read-only. */
const inImage = (name: string, script: string) =>
  docker(
    'run',
    '--rm',
    '--read-only',
    '--network',
    'none',
    '--label',
    label,
    '--entrypoint',
    'sh',
    name,
    '-c',
    script,
  )

test('the image has the labels of OCI, a health check, and a user that is not root', async () => {
  const { Config: config } = JSON.parse(await docker('inspect', '--format', '{{json .}}', image))
  expect(config.Labels).toMatchObject({
    'org.opencontainers.image.title': 'Tollgate',
    'org.opencontainers.image.licenses': 'Apache-2.0',
  })
  expect(config.User).toBe('1000:1000')
  expect(config.Healthcheck.Test).toEqual(['CMD', 'node', 'packaging/health.cjs'])
  expect(Object.keys(config.Volumes)).toEqual(['/data'])
})

test('it has JavaScript, pages and compiled code; no TypeScript, no Postgres, no second Node', async () => {
  const script =
    'find / -xdev -name "*.ts" -o -xdev -name initdb -o -xdev -type f -name node; ls node_modules/.cache/tollgate console/dist'
  const [node, ...found] = (await inImage(image, script)).split('\n')
  expect(node).toBe('/usr/local/bin/node')
  expect(found.filter((path) => path.startsWith('/'))).toEqual([])
  expect(found).toContain('index.html')
})

test('its commands work in it, and DuckDB is where it was not left out', async () => {
  expect(
    await docker('run', '--rm', '--read-only', '--network', 'none', '--label', label, image, '--help'),
  ).toContain('ledger verify')
  const load = `node -e "import('@duckdb/node-api').then((duck) => console.log(duck.version()), () => console.log('none'))"`
  expect(await inImage(image, load)).toMatch(/^v\d/)
  expect(await inImage(withoutDuck, load)).toBe('none')
})

test('what docker-compose.yml starts answers through TLS, keeps images in its store, writes nowhere but to /data and /tmp, and ends with 0', async () => {
  const begun = performance.now()
  const stack = await startContainers(stackYaml)
  const openai = new OpenAI({
    baseURL: `${stack.url}/v1`,
    apiKey: freeKey,
    fetch: stack.fetch,
    maxRetries: 0,
  })
  const answer = await openai.chat.completions.create({
    model: 'any',
    messages: [{ role: 'user', content: 'Hello' }],
  })
  expect(answer.choices[0]?.message.content).toBe('Hello there.')
  console.info(
    `From the first container to the first answer: ${((performance.now() - begun) / 1000).toFixed(1)} s`,
  )

  const painted = await openai.images.generate({ model: 'draw', prompt: 'a dog', response_format: 'url' })
  const address = painted.data?.[0]?.url ?? ''
  expect(address).toMatch(new RegExp(`^${stack.url}/`))
  expect((await stack.fetch(address)).headers.get('content-type')).toBe('image/png')
  expect((await stack.fetch(`${stack.url}/console`)).status).toBe(200)

  for (const [name] of ours) {
    const script =
      'id -u; for place in / /app /home/node /data /tmp; do touch $place/x 2>/dev/null && echo $place; done; true'
    const said = await docker('exec', stack.containerOf(name), 'sh', '-c', script)
    expect(said.split('\n'), name).toEqual(['1000', '/data', '/tmp'])
  }
  const verified = await docker(
    'exec',
    stack.containerOf('gateway-1'),
    'node',
    'tollgate.cjs',
    'ledger',
    'verify',
  )
  expect(verified).toContain('0 of ')
  for (const [name] of ours) expect(await stack.stop(name), name).toBe(0)
}, 300_000)

test('each service is killed once under load: calls are rows', async () => {
  const stack = await startContainers(stackYaml)
  const calls = startCalls(stack)
  for (const name of started) {
    await calls.more(20)
    await stack.kill9(name)
  }
  await calls.more(20)
  await calls.stop()
  await expectCallsAreRows(stack, calls.answered)
}, 600_000)

test('without DuckDB a gateway says why it cannot read archived days, and a worker that should archive does not start', async () => {
  const stack = await startContainers(stackYaml, withoutDuck)
  const day = '2026-01-05'
  await query(
    stack.databaseUrl,
    `INSERT INTO archived_days (day, table_name, part, state, location, rows, bytes, sha256, first_at, last_at, started_at)
     VALUES ('${day}', 'requests', 0, 'dropped', 'x', 1, 1, 'x', '${day}', '${day} 12:00', now())`,
  )
  const ask = async (cursor: string): Promise<string> => {
    const range = `from=${day}T00:00:00Z&to=${day}T23:00:00Z${cursor}`
    const headers = { authorization: `Bearer ${variables.ADMIN_TOKEN}` }
    const answer = await stack.fetch(`${stack.url}/admin/v1/requests?${range}`, { headers })
    const text = await answer.text()
    if (answer.status !== 200) return `${answer.status} ${text}`
    // A page ends before the days that cannot be read.
    return await ask(`&cursor=${JSON.parse(text).next_cursor}`)
  }
  expect(await ask('')).toMatch(/^503 .*DuckDB is not installed/)

  const { stderr } = await stack.run('worker-1', { HOT_DAYS: '7' }).catch((error) => error)
  expect(stderr).toContain('HOT_DAYS is set. The archive needs DuckDB')
}, 300_000)
