import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { functionsOf } from '../bench/weight/functions.ts'
import { longest } from './support/longest-first.ts'
import { generated, readConsole, readSources } from './support/sources.ts'
import { tiers, tiersOf } from './support/tiers.ts'

/** Checks the layout and the imports against docs/architecture.md, and names the wrong file. */

const sources = readSources()
const product = sources.filter(({ file }) => file.startsWith('src/'))
const workers = sources.filter(({ file }) => file.startsWith('workers/'))
/** The workspaces that the product loads as packages. */
const walled = sources.filter(({ file }) => /^(demo|verify)\//.test(file))
const shipped = [...product, ...workers, ...walled]
const pages = readConsole().filter(({ file }) => file !== generated)
const tests = sources.filter(({ file }) => file.startsWith('test/') && file !== 'test/tidy.test.ts')

/** The parts of src, and the parts that each may import. docs/architecture.md says what each part is for. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  canonical: [],
  runtime: [],
  config: ['canonical'],
  protocols: ['canonical'],
  redaction: ['canonical'],
  storage: ['canonical', 'config', 'runtime'],
  telemetry: ['redaction', 'runtime'],
  db: ['canonical', 'config', 'runtime', 'telemetry'],
  http: ['canonical', 'config', 'runtime', 'telemetry'],
  journal: ['canonical', 'config', 'db', 'protocols', 'redaction', 'runtime', 'telemetry'],
  secrets: ['canonical', 'config', 'db'],
  catalog: ['canonical', 'config', 'db', 'protocols', 'runtime', 'secrets', 'telemetry'],
  shipping: ['canonical', 'db', 'journal', 'redaction', 'runtime', 'telemetry'],
  access: ['canonical', 'catalog', 'db', 'redaction', 'runtime', 'secrets', 'telemetry'],
  bodies: ['canonical', 'catalog', 'journal', 'protocols', 'redaction', 'runtime', 'telemetry'],
  limits: ['catalog', 'runtime', 'telemetry'],
  money: ['canonical', 'catalog', 'db', 'journal', 'redaction', 'runtime', 'shipping'],
  routing: ['canonical', 'catalog', 'db', 'protocols', 'redaction', 'runtime', 'telemetry'],
  state: ['access', 'bodies', 'canonical', 'catalog', 'db', 'protocols', 'redaction', 'runtime', 'storage'],
  upstream: [
    'canonical',
    'catalog',
    'config',
    'db',
    'http',
    'protocols',
    'redaction',
    'routing',
    'runtime',
    'secrets',
    'telemetry',
  ],
  usage: [
    'canonical',
    'catalog',
    'config',
    'db',
    'journal',
    'money',
    'redaction',
    'runtime',
    'shipping',
    'state',
    'storage',
    'telemetry',
  ],
  alerts: [
    'canonical',
    'db',
    'journal',
    'money',
    'redaction',
    'routing',
    'runtime',
    'shipping',
    'telemetry',
    'upstream',
    'usage',
  ],
  jobs: [
    'canonical',
    'catalog',
    'config',
    'db',
    'journal',
    'protocols',
    'runtime',
    'state',
    'telemetry',
    'upstream',
    'usage',
  ],
  'ledger-tools': ['canonical', 'db', 'journal', 'money', 'runtime', 'shipping', 'telemetry', 'usage'],
  pipeline: [
    'access',
    'bodies',
    'canonical',
    'catalog',
    'config',
    'http',
    'jobs',
    'journal',
    'limits',
    'money',
    'protocols',
    'redaction',
    'routing',
    'runtime',
    'shipping',
    'state',
    'telemetry',
    'upstream',
  ],
  images: [
    'bodies',
    'canonical',
    'catalog',
    'http',
    'jobs',
    'journal',
    'money',
    'pipeline',
    'protocols',
    'redaction',
    'routing',
    'runtime',
    'storage',
    'telemetry',
    'upstream',
  ],
  probes: [
    'access',
    'canonical',
    'catalog',
    'db',
    'http',
    'pipeline',
    'protocols',
    'redaction',
    'routing',
    'secrets',
    'shipping',
  ],
  sockets: ['canonical', 'config', 'http', 'pipeline', 'protocols', 'runtime'],
  api: [
    'access',
    'alerts',
    'bodies',
    'canonical',
    'catalog',
    'config',
    'db',
    'http',
    'images',
    'imports',
    'jobs',
    'journal',
    'ledger-tools',
    'limits',
    'money',
    'pipeline',
    'probes',
    'protocols',
    'redaction',
    'routing',
    'runtime',
    'secrets',
    'shipping',
    'sockets',
    'state',
    'telemetry',
    'upstream',
    'usage',
  ],
  imports: ['access', 'canonical', 'catalog', 'db', 'secrets'],
  process: [
    'access',
    'alerts',
    'api',
    'bodies',
    'canonical',
    'catalog',
    'config',
    'db',
    'http',
    'images',
    'jobs',
    'journal',
    'ledger-tools',
    'limits',
    'money',
    'pipeline',
    'protocols',
    'routing',
    'runtime',
    'secrets',
    'shipping',
    'sockets',
    'state',
    'storage',
    'telemetry',
    'upstream',
    'usage',
  ],
  'server.ts': ['process', 'runtime'],
  commands: [
    'access',
    'canonical',
    'catalog',
    'config',
    'db',
    'http',
    'imports',
    'jobs',
    'journal',
    'ledger-tools',
    'money',
    'process',
    'protocols',
    'runtime',
    'secrets',
    'server.ts',
    'storage',
    'telemetry',
    'upstream',
    'usage',
  ],
}

test('every file of src belongs to a part of the layout', () => {
  for (const { file } of product) {
    expect(Object.keys(mayImport), `${file} belongs to no part: see docs/architecture.md`).toContain(
      partOf(file),
    )
  }
})

test('imports follow the arrows', () => {
  for (const { file, imports } of product) {
    const part = partOf(file)
    for (const imported of imports.filter((path) => path.startsWith('src/'))) {
      const other = partOf(imported)
      if (other === part) continue
      expect(mayImport[part] ?? [], `${file} imports ${imported}: ${part} may not know ${other}`).toContain(
        other,
      )
    }
  }
})

test('no file imports itself through other files, and no part through other parts', () => {
  for (const sources of [product, pages]) {
    const files = new Map(sources.map(({ file, imports }) => [file, imports]))
    expect(circleIn(files), 'files import each other in a circle').toBeUndefined()
  }
  const parts = new Map<string, string[]>()
  for (const { file, imports } of product) {
    const own = partOf(file)
    const others = imports.filter((path) => path.startsWith('src/')).map(partOf)
    parts.set(own, [...(parts.get(own) ?? []), ...others.filter((other) => other !== own)])
  }
  expect(circleIn(parts), 'parts import each other in a circle').toBeUndefined()
})

test('a function has at most 100 lines', () => {
  // A shorter file has no longer function, and parsing takes time.
  const longer = [...shipped, ...pages].filter(({ text }) => text.split('\n').length > 100)
  for (const { file, text } of longer) {
    const long = functionsOf(file, text).filter(({ lines }) => lines > 100)
    for (const { name, line, lines } of long)
      expect.fail(`${file}:${line}: ${name} has ${lines} lines: make functions of its steps`)
  }
})

test('an exported class or type has a name of its own', () => {
  for (const room of [
    [...product, ...workers],
    walled,
    pages.filter(({ file }) => file.startsWith('console/src/')),
  ]) {
    const files = new Map<string, string>()
    for (const { file, text } of room) {
      for (const [, name = ''] of text.matchAll(/^export (?:abstract )?(?:class|interface|type) (\w+)/gm)) {
        expect(files.get(name), `${file}: ${name} is another type elsewhere`).toBeUndefined()
        files.set(name, file)
      }
    }
  }
})

test('comments end within 110 columns, which the formatter leaves to their writer', () => {
  for (const { file, text } of [...shipped, ...pages]) {
    const wide = text.split('\n').find((line) => line.length > 110 && /^ *(\/?\*|\/\/)(?! biome)/.test(line))
    expect(wide, file).toBeUndefined()
  }
})

test('a file has at most 600 lines', () => {
  for (const { file, text } of [...shipped, ...pages]) {
    const lines = text.trimEnd().split('\n').length
    expect(lines, `${file} has ${lines} lines: split it`).toBeLessThanOrEqual(600)
  }
})

test('no protocol imports another; only protocols/index.ts names them all', () => {
  for (const { file, imports } of product) {
    const own = protocolOf(file)
    for (const imported of imports) {
      const other = protocolOf(imported)
      if (other === undefined || other === own || file === 'src/protocols/index.ts') continue
      expect.fail(`${file} imports ${imported}: protocols are reached through src/protocols/index.ts`)
    }
  }
})

test('how requests refer to stored answers is known to protocols alone, which the rooms of state ask', () => {
  const rooms = /^src\/(pipeline|state|sockets|background)\//
  const words =
    /previous_(response|message)_id|openai-responses|\bresp_|output_item|response\.(created|completed|failed|incomplete|queued)|encrypted_content|sequence_number|stream_id|input_items|item_reference|function_call|\/v1\/responses/
  for (const { file, text } of product) {
    // The list of endpoints names the path and the format of each.
    if (!rooms.test(file) || file === 'src/pipeline/endpoints.ts') continue
    const word = words.exec(text)?.[0]
    expect(word, `${file}: ask the ProtocolState of the client's format`).toBeUndefined()
  }
})

test('src does not import workers/, except the entry, which starts workers in this process on demand', () => {
  for (const { file, imports } of product) {
    if (file === 'src/server.ts') continue
    const worker = imports.find((path) => path.startsWith('workers/'))
    expect(worker, `${file} imports ${worker}: workers import src, never the other way round`).toBeUndefined()
  }
})

/** What the pages share with the API: data, in a file that imports nothing. */
const shared = 'src/usage/log/filters.ts'

test('the pages know the gateway by its HTTP API and its filters, and the gateway knows nothing of them', () => {
  expect(product.find(({ file }) => file === shared)?.imports).toEqual([])
  for (const { file, imports } of pages) {
    const other = imports.find((path) => /^(src|workers|test|bench)\//.test(path) && path !== shared)
    expect(other, `${file} imports ${other}: ask the HTTP API for it`).toBeUndefined()
    // What makes the documents into pages runs when the pages are built.
    const isOfBuild = file === 'console/vite.config.ts' || file.startsWith('console/docs/')
    const builtin = isOfBuild ? undefined : imports.find((path) => /^node:/.test(path))
    expect(builtin, `${file} imports ${builtin}, which no browser has`).toBeUndefined()
  }
  for (const { file, imports } of shipped) {
    const page = imports.find((path) => path.startsWith('console/'))
    expect(page, `${file} imports ${page}: the gateway serves what vite has built of it`).toBeUndefined()
  }
})

test('no page shows the answer to one question under the name of another', () => {
  for (const { file, text } of pages)
    expect(text.includes('keepPreviousData'), `${file}: use keptFor, which names the question`).toBe(false)
})

test('what clients of the API read is ASCII: some print the bytes of an answer', () => {
  const rooms =
    /^src\/(access|canonical|files|gateway|http|images|kept|limits|protocols|routing|sockets|stages|traits)\//
  // Hints of keys are for the console; `authenticate` has them in ASCII.
  const others = /^src\/access\/(key-secret|users\/secrets)\.ts$/
  for (const { file, text } of sources) {
    if (!rooms.test(file) || others.test(file)) continue
    const lines = text.split('\n').filter((line) => !/^\s*(\/\/|\*|\/\*)/.test(line))

    expect(
      lines.filter((line) => /\P{ASCII}/u.test(line)),
      file,
    ).toEqual([])
  }
})

test('a workspace that we ship knows nothing of the gateway', () => {
  for (const { file, imports } of walled) {
    const [own] = file.split('/')
    const other = imports.find((path) => path.includes('.ts') && !path.startsWith(`${own}/`))
    expect(other, `${file} imports ${other}: it may import packages and its own files`).toBeUndefined()
  }
})

test('shipped code does not import tests', () => {
  for (const { file, imports } of shipped) {
    const test = imports.find((path) => path.startsWith('test/') || path.startsWith('bench/'))
    expect(test, `${file} imports ${test}: move what it needs into src`).toBeUndefined()
  }
})

test('only jobs/queue/ imports BullMQ, only jobs/queue/ and limits/ import Redis, and only storage/ and upstream/aws/ import the AWS SDK', () => {
  for (const name of ['bullmq', '@bull-board/api', '@bull-board/express']) {
    onlyIn(name, /^src\/jobs\/queue\//, 'jobs are given to a JobQueue, and run by what its worker calls')
  }
  onlyIn('@opentelemetry', /^src\/telemetry\/traces\//, 'a request has a Trace, whose spans are ours')
  onlyIn(
    'ioredis',
    /^src\/(jobs\/queue|limits)\//,
    'limits are asked for by Limits, jobs are given to a JobQueue',
  )
  onlyIn(
    '@aws-sdk',
    /^src\/(storage|upstream\/aws)\//,
    'images are kept by an ImageStorage, and requests are signed by a Signer',
  )
})

test('only config.ts reads the environment, which server.ts and the command hand on', () => {
  for (const { file, text } of shipped) {
    if (['src/config/config.ts', 'src/server.ts', 'src/commands/main.ts'].includes(file)) continue
    expect(
      text.includes('process.env'),
      `${file} reads process.env: add the variable to src/config/config.ts`,
    ).toBe(false)
  }
})

test('what requests go through is given its clock, and only a thread of it makes one', () => {
  const rooms =
    /^src\/(journal|ledger-tools|limits|money|pipeline|routing|shipping)\/|^src\/usage\/(?!archive\/)/
  const threads = ['src/shipping/shipper.ts']
  for (const { file, text } of product.filter(({ file }) => rooms.test(file))) {
    const read = /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b|\bprocess\.hrtime\b/.exec(text)
    expect(read?.[0], `${file} reads the time by itself: take a Clock as an argument`).toBeUndefined()
    if (threads.includes(file)) continue
    expect(text.includes('systemClock'), `${file} makes a clock: take it as an argument`).toBe(false)
  }
})

test('only extend adds to a stage of a request, so the types see all that is added', () => {
  for (const { file, text } of product.filter(({ file }) =>
    /^src\/(api|images|pipeline|sockets)\//.test(file),
  )) {
    if (file === 'src/pipeline/received.ts') continue
    expect(text.includes('Object.assign'), `${file} assigns: add to a stage with extend`).toBe(false)
  }
})

test('a path that a file builds from its own folder exists', () => {
  const built = /import\.meta\.dirname, '([^']+)'|new URL\('(\.[^']+)', import\.meta\.url\)/g
  for (const { file, text } of shipped) {
    for (const [, fromFolder, fromUrl] of text.matchAll(built)) {
      const path = join(file, '..', fromFolder ?? fromUrl ?? '')
      // Made at the first start.
      if (path.startsWith('node_modules/.cache/')) continue
      expect(existsSync(path), `${file}: ${path} does not exist`).toBe(true)
    }
  }
})

test('only start-thread.ts starts threads', () => {
  for (const { file, text } of shipped) {
    if (file === 'src/runtime/start-thread.ts') continue
    const starts = /import \{[^}]*(?<!type )\bWorker\b[^}]*\} from 'node:worker_threads'/.test(text)
    expect(starts, `${file} starts a thread by itself: call startThread, which says why`).toBe(false)
  }
})

test('only app.ts, api/ and the entry verbs import Express', () => {
  const allowed = /^src\/process\/app\.ts$|^src\/api\/|^src\/jobs\/queue\/board\.ts$/
  onlyIn('express', allowed, 'Express ends at the entry verbs: take node:http types')
})

test('only db/ and files named queries.ts, or for their queries, import drizzle; only the shipper, the queue and transactions import pg', () => {
  for (const name of ['drizzle-orm', 'src/db/drizzle.cjs'])
    onlyIn(name, /^src\/db\/|[/-]queries\.ts$/, 'put the query into a queries.ts')
  onlyIn(
    'pg',
    /^src\/(shipping\/(adopter|answer-shipment|copy-query|end-lost|instances|shipment|shipper-connection|succession)|jobs\/queue\/postgres|db\/transactions)\.ts$/,
    'the application uses the Database of db/',
  )
})

test('the names of files say what they contain', () => {
  for (const { file } of sources) {
    const name = file.slice(file.lastIndexOf('/') + 1)
    expect(name, `${file}: kebab-case`).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*((\.browser)?\.test)?\.ts$/)
    expect(name, `${file}: a name that says nothing`).not.toMatch(nothingSaid)
  }
  for (const { file } of pages) {
    const name = file.slice(file.lastIndexOf('/') + 1)
    expect(name, `${file}: kebab-case`).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*(\.config|\.d)?\.tsx?$/)
    expect(name, `${file}: a name that says nothing`).not.toMatch(nothingSaid)
  }
})

const nothingSaid = /^(utils?|helpers?|misc|common|manager|service)\.tsx?$/

/** The first circle, as a path. */
function circleIn(arrows: ReadonlyMap<string, readonly string[]>): string | undefined {
  const done = new Set<string>()
  const visit = (at: string, path: readonly string[]): string | undefined => {
    if (path.includes(at)) return [...path.slice(path.indexOf(at)), at].join(' -> ')
    if (done.has(at)) return undefined
    for (const next of arrows.get(at) ?? []) {
      const circle = visit(next, [...path, at])
      if (circle !== undefined) return circle
    }
    done.add(at)
    return undefined
  }
  for (const start of arrows.keys()) {
    const circle = visit(start, [])
    if (circle !== undefined) return circle
  }
  return undefined
}
test('every test file is in one tier, and tests of pure code start no processes', () => {
  const filesOf = tiersOf(sources)
  const files = sources.map(({ file }) => file).filter((file) => file.endsWith('.test.ts'))
  expect(tiers.flatMap((tier) => filesOf[tier]).sort()).toEqual(files.sort())
  const slower = tiers.filter((tier) => tier !== 'fast').flatMap((tier) => filesOf[tier])
  for (const file of slower.filter((file) => pure.test(file)))
    expect.fail(`${file} starts a process or opens a database: test that in a part that may`)
})

test('every file that is to begin first is there', () => {
  const files = sources.map(({ file }) => file)
  for (const file of longest) expect(files, 'see test/support/longest-first.ts').toContain(file)
})

/** Parts that need no processes and databases, by the folders of their tests. */
const pure = /^test\/(protocols\/|redaction\/|bench\/|(tidy|docs|config)\.test)/

test('a test file that needs a special machine says so in its name', () => {
  for (const { file, text } of tests.filter(({ file }) => file.endsWith('.test.ts'))) {
    const isOnlyRedis = /\bstartRedis\(/.test(text) && !text.includes('queueBackends()')
    if (isOnlyRedis)
      expect(file, `${file} starts Redis: put these tests into a file …redis.test.ts`).toMatch(/[/-]redis\./)
    if (/\bsmallDisk\(/.test(text))
      expect(file, `${file} mounts a disk: put these tests into a file …disk.test.ts`).toMatch(/[/-]disk\./)
    if (/\bstartBrowser\(/.test(text))
      expect(file, `${file} starts a browser: put these tests into a file ….browser.test.ts`).toMatch(
        /\.browser\.test\.ts$/,
      )
  }
})

test('tests wait for a state, never for a time: only test/support has timers, and the simulator its own', () => {
  const scripted =
    /^test\/(simulator\/scheduler|support\/(until|upstream|raw-upstream|image-upstream|slow-client|wire|background-bed|tollgate|replicated|marked-load|vendor\/vendor))\.ts$/
  for (const { file, text } of tests.filter(({ file }) => !scripted.test(file))) {
    // In quotes it is one that a test replaces.
    const timer = /(?<![.\w'])setTimeout\b/.exec(text)
    expect(timer?.[0], `${file} has a timer: see test/support/until.ts`).toBeUndefined()
  }
})

test('tests take random numbers from a seed, are never skipped, and depend on no variable of the machine', () => {
  for (const { file, text } of tests) {
    expect(text.includes('Math.random'), `${file} has Math.random: see test/support/random.ts`).toBe(false)
    const left = /\b(describe|test|it)(\.\w+)*\.(skip|skipIf|runIf|todo|only|fails)\b/.exec(text)
    expect(left?.[0], `${file} has a test that does not always run`).toBeUndefined()
  }
})

function onlyIn(packageName: string, allowed: RegExp, advice: string): void {
  for (const { file, imports } of shipped) {
    const seen = imports.some((path) => path === packageName || path.startsWith(`${packageName}/`))
    if (seen) expect(file, `${file} imports ${packageName}: ${advice}`).toMatch(allowed)
  }
}

function partOf(file: string): string {
  return file.split('/')[1] ?? ''
}

function protocolOf(file: string): string | undefined {
  return /^src\/protocols\/([^/]+)\/./.exec(file)?.[1]
}
