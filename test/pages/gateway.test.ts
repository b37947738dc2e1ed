import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { adminClient, becomeOwner } from '../support/admin-client.ts'
import { emptyDatabase, freshDatabase } from '../support/database.ts'
import { repository } from '../support/former-release.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { ownPort } from '../support/own-port.ts'
import { type ProcessTestbed, startProcessTestbed } from '../support/process-testbed.ts'
import { commandOf, startTollgate, type TollgateProcess } from '../support/tollgate.ts'
import { holdsFor, until } from '../support/until.ts'
import { temporaryFolder, writeFiles } from './served-pages.ts'

/** A checkout of its own, so that no other test's pages are built or served. */

const allPages = { PAGES: 'console,home,models,docs' }
const accept = 'text/html,*/*'

describe('the first start', () => {
  test('serves the API at once and builds the pages beside it, in one of its processes', async () => {
    const directory = checkout()
    const tollgate = await start(directory, { PROCESSES: '2', ...allPages })
    const first = await fetch(`${tollgate.url}/console`, { headers: { accept } })
    expect([200, 503]).toContain(first.status)
    await until(async () => (await fetch(`${tollgate.url}/console`, { headers: { accept } })).status === 200)
    await until(() => tollgate.stderr().includes('"msg":"all processes are ready"'))
    // Each connection goes to one of both processes.
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const answer = await fetch(`${tollgate.url}/console/log`, {
          headers: { accept, connection: 'close' },
        })
        await answer.text()
        return answer.status
      }),
    )
    expect(new Set(statuses)).toEqual(new Set([200]))
    await until(() => tollgate.stdout().includes('The pages were built'))
    expect(tollgate.stdout()).toMatch(
      /base URL: [\s\S]*\nBuilding the pages, which takes a few seconds\. The API is already available\.\nThe pages were built in \d+\.\d s\.\n$/,
    )
    expect(tollgate.stdout().match(/[Tt]he pages/g)).toHaveLength(2)
    expect(await tollgate.stop()).toBe(0)

    const second = await start(directory, allPages)
    expect((await fetch(`${second.url}/console`, { headers: { accept } })).status).toBe(200)
    expect(second.stdout()).not.toContain('pages')
  })

  test.each(['stop', 'kill9'] as const)(
    'whose process ends in the middle of the build (%s) leaves none, and the next builds',
    async (end) => {
      const directory = checkout()
      const slow = hangTheBuild(directory)
      const tollgate = await start(directory, allPages)
      const { builder } = await slow.begun()
      expect(commandOf(builder)).toContain('build-process.ts')
      await tollgate[end]()
      await until(() => commandOf(builder) === '')
      slow.end()
      const next = await start(directory, allPages)
      await until(() => next.stdout().includes('The pages were built'))
      expect((await fetch(`${next.url}/console`, { headers: { accept } })).status).toBe(200)
    },
  )

  test('of several processes builds by another where the one that builds has ended', async () => {
    const directory = checkout()
    const slow = hangTheBuild(directory)
    const tollgate = await start(directory, { PROCESSES: '2', ...allPages })
    const { parent } = await slow.begun()
    expect(tollgate.members()).toContain(parent)
    slow.end()
    process.kill(parent, 'SIGKILL')
    await until(() => tollgate.stdout().includes('The pages were built'))
  })

  test('says why the build failed in its log and at the addresses of the pages, and the API works', async () => {
    const directory = checkout()
    writeFileSync(join(directory, 'console/index.html'), '<script type="module" src="/src/gone.ts"></script>')
    const tollgate = await start(directory, { PROCESSES: '2', ...allPages })
    await until(() => linesOf(tollgate, /the pages cannot be built/).length > 0)
    // Only one of both processes has built. The page of the other asks again, by a new connection.
    const text = await until(async () => {
      const page = await fetch(`${tollgate.url}/console`, { headers: { accept } })
      const text = await page.text()
      return !text.includes('http-equiv="refresh"') && text
    })
    expect(text).toMatch(/gone\.ts/)
    expect(text).toContain('npm run build:pages')
    expect((await fetch(`${tollgate.url}/openapi.json`)).status).toBe(200)
  })

  test('says what is missing where nothing can build the pages, and the API works', async () => {
    const directory = checkout({ vite: false })
    const tollgate = await start(directory, { PROCESSES: '2', ...allPages })
    await until(() => tollgate.stderr().includes('"msg":"all processes are ready"'))
    await until(() => linesOf(tollgate, /the pages cannot be built/).length > 0)
    await holdsFor(500, () => expect(linesOf(tollgate, /the pages cannot be built/)).toHaveLength(1))
    // Each connection goes to one of both processes.
    await until(async () => {
      const texts = await Promise.all(
        Array.from({ length: 10 }, async () => {
          const page = await fetch(`${tollgate.url}/console`, { headers: { accept, connection: 'close' } })
          expect(page.status).toBe(503)
          return await page.text()
        }),
      )
      return texts.every(
        (text) => text.includes('npm ci without --omit=dev') && !text.includes('http-equiv="refresh"'),
      )
    })
    const nothing = await fetch(`${tollgate.url}/nothing`, { headers: { accept } })
    expect([nothing.status, nothing.headers.get('content-type')]).toEqual([
      404,
      expect.stringMatching(/html/),
    ])
    expect((await fetch(`${tollgate.url}/openapi.json`)).status).toBe(200)
  })

  test('with a logo that cannot be read ends with the reason', async () => {
    const env = { ...allPages, SITE_LOGO: '/nowhere/logo.svg' }
    await expect(start(repository, env)).rejects.toThrow(
      /Tollgate cannot start: SITE_LOGO: cannot read \/nowhere\/logo\.svg: ENOENT/,
    )
  })

  test('of a worker has no pages, and reads no logo', async () => {
    const env = { ...allPages, ROLE: 'worker', SITE_LOGO: '/nowhere/logo.svg' }
    const tollgate = await start(checkout({ vite: false }), env)
    expect(linesOf(tollgate, /pages/)).toEqual([])
  })
})

describe('the way to the console', () => {
  test('is printed: the set-up link at first, the address later', async () => {
    const { url: databaseUrl, drop } = await freshDatabase()
    onTestFinished(drop)
    const directory = checkout()
    const first = await startTollgate({
      databaseUrl,
      gatewayYaml: '{}',
      directory,
      env: { ...compiledIn(directory), ...allPages },
    })
    onTestFinished(() => first.kill9())
    expect(first.stdout()).toMatch(
      new RegExp(
        `^Open ${first.url}/console/link#tgl_\\w+ to create the first owner \\(works once, within 60 minutes\\)\\.$`,
        'm',
      ),
    )
    expect(first.stdout()).not.toContain('/admin/v1/links/')
    await becomeOwner(first, adminClient(first.url))
    await first.stop()

    const second = await startTollgate({
      databaseUrl,
      gatewayYaml: '{}',
      directory,
      env: { ...compiledIn(directory), ...allPages },
    })
    onTestFinished(() => second.kill9())
    expect(second.stdout()).toContain(`\nconsole: ${second.url}/console\n`)
    expect(second.stdout()).not.toContain('tgl_')
  })

  test('begins with PUBLIC_URL where that is set', async () => {
    const port = await ownPort()
    const publicUrl = `http://localhost:${port}`
    const tollgate = await start(checkout(), {
      ...allPages,
      RESET_LINK_MINUTES: '5',
      PORT: String(port),
      PUBLIC_URL: `${publicUrl}/`,
    })
    expect(tollgate.stdout()).toMatch(
      new RegExp(
        `^Open ${publicUrl}/console/link#tgl_\\w+ to create the first owner \\(works once, within 5 minutes\\)\\.$`,
        'm',
      ),
    )
  })

  test('is a call by curl where the console is off', async () => {
    const tollgate = await start(checkout({ vite: false }), { PAGES: 'none' })
    expect(tollgate.stdout()).toMatch(/^curl http\S+\/admin\/v1\/links\/use .*\n.*"token":"tgl_\w+"/m)
    expect(tollgate.stdout()).not.toContain('/console')
  })
})

describe('the API beside the pages', () => {
  let bed: ProcessTestbed
  beforeAll(async () => {
    bed = await startProcessTestbed({ env: allPages })
  })
  afterAll(() => bed?.close())

  test.each([
    ['GET', '/models', { authorization: `Bearer ${freeKey}` }, 'Use GET /v1/models'],
    ['GET', '/models', { accept: 'application/json' }, 'Use GET /v1/models'],
    ['POST', '/console', {}, 'There is no POST /console.'],
    ['POST', '/chat/completions', {}, 'Use POST /v1/chat/completions'],
    ['GET', '/consolex', { accept: '*/*' }, 'There is no GET /consolex.'],
    ['GET', '/assets/none.js', { accept: '*/*' }, 'There is no GET /assets/none.js.'],
    ['GET', '/v1/nothing', { accept }, 'There is no GET /v1/nothing.'],
  ])('%s %s says what to call, as before, and has a row', async (method, path, headers, says) => {
    const response = await fetch(`${bed.tollgate.url}${path}`, { method, headers })
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining(says) } })
    expect(await bed.row(response.headers.get('x-request-id'))).toMatchObject({ endpoint: path })
  })

  test('a page has no row', async () => {
    const before = (await bed.rows()).length
    for (const path of ['/', '/models', '/docs', '/console', '/site/icon', '/nothing', '/models/nothing'])
      await (await fetch(`${bed.tollgate.url}${path}`, { headers: { accept } })).text()
    const chat = await bed.chat({ model: 'main', messages: [{ role: 'user', content: 'Hello' }] })
    await chat.text()
    await bed.row(chat.headers.get('x-request-id'))
    expect(await bed.rows()).toHaveLength(before + 1)
  })
})

async function start(directory: string, env: Record<string, string>): Promise<TollgateProcess> {
  const { url: databaseUrl, drop } = await emptyDatabase()
  onTestFinished(drop)
  const tollgate = await startTollgate({
    databaseUrl,
    gatewayYaml: '{}',
    directory,
    env: { ...compiledIn(directory), ...env },
  })
  onTestFinished(() => tollgate.kill9())
  return tollgate
}

/** The folder of compiled code as the checkout sees it, so that its program, which is the same, need not be compiled again. */
function compiledIn(directory: string): Record<string, string> {
  return { NODE_COMPILE_CACHE: join(directory, 'node_modules/.cache/tollgate') }
}

/** The program, with pages that are small. Without vite: also without the sources of the pages. */
function checkout({ vite = true } = {}): string {
  const directory = temporaryFolder()
  for (const part of ['package.json', 'src', 'workers', 'migrations'])
    cpSync(join(repository, part), join(directory, part), { recursive: true })
  symlinkSync(join(repository, 'node_modules'), join(directory, 'node_modules'))
  if (!vite) return directory
  writeFiles(directory, {
    'console/package.json': readFileSync(join(repository, 'console/package.json')),
    'console/vite.config.ts': 'export default {}',
    'console/index.html': '<!doctype html><html><head><!--site--></head><body></body></html>',
    'console/src/main.ts': '',
  })
  return directory
}

/** Makes the build of a checkout one that never ends, until `end`. */
function hangTheBuild(directory: string): {
  begun(): Promise<{ builder: number; parent: number }>
  end(): void
} {
  const config = join(directory, 'console/vite.config.ts')
  const seen = join(directory, 'builder.json')
  const quick = readFileSync(config)
  writeFileSync(
    config,
    `import { renameSync, writeFileSync } from 'node:fs'
    const seen = ${JSON.stringify(seen)}
    writeFileSync(seen + '.new', JSON.stringify({ builder: process.pid, parent: process.ppid }))
    renameSync(seen + '.new', seen)
    export default { plugins: [{ name: 'slow', buildStart: () => new Promise(() => setInterval(() => {}, 1000)) }] }`,
  )
  return {
    begun: () => until(() => existsSync(seen) && JSON.parse(readFileSync(seen, 'utf8'))),
    end: () => writeFileSync(config, quick),
  }
}

/** The messages of the log that fit. */
function linesOf(tollgate: TollgateProcess, message: string | RegExp): string[] {
  return tollgate
    .stderr()
    .split('\n')
    .flatMap((line) => /"msg":"([^"]*)"/.exec(line)?.[1] ?? [])
    .filter((text) => (typeof message === 'string' ? text === message : message.test(text)))
}
