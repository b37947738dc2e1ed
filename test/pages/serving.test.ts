import { readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { repository } from '../support/former-release.ts'
import { index, servePages, siteIn, temporaryFolder, writeFiles } from './served-pages.ts'

const script = 'export const answer = 42\n'.repeat(100)
const built = {
  'index.html': index,
  'assets/main-abc.js': script,
  'assets/main-abc.js.br': brotliCompressSync(script),
  'assets/main-abc.js.gz': gzipSync(script),
  'docs/index.md': '# Dokumente für alle\n',
  'docs/tutorials/first-request.md': '# The first request\n',
  'docs/clients/README.md': '# Clients\n',
  'models/list.txt': 'main\n',
}

const pageAddresses = [
  '/',
  '/?from=here',
  '/models',
  '/models/',
  '/models/vendor/name:free',
  '/docs',
  '/docs/tutorials/first-request',
  '/docs/clients/',
  '/docs/api/usage',
  '/console',
  '/console/log?model=a&open=01',
]

describe('a page', () => {
  test.each(pageAddresses)('%s is index.html, with a strict policy, and no cache keeps it', async (path) => {
    const { get } = await servePages(built)
    const { status, headers, text } = await get(path, { accept: 'text/html,*/*;q=0.8' })
    expect(status).toBe(200)
    const { nonce } = siteIn(text)
    expect(nonce).toMatch(/^[\w+/]{22}==$/)
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-length': String(Buffer.byteLength(text)),
      'cache-control': 'no-cache',
      'content-security-policy': `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; object-src 'none'`,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
    })
    expect(headers['permissions-policy']).toContain('camera=()')
  })

  test('has another nonce each time', async () => {
    const { get } = await servePages(built)
    const nonces = await Promise.all([get('/'), get('/'), get('/')])
    expect(new Set(nonces.map(({ text }) => siteIn(text).nonce)).size).toBe(3)
  })

  test('says what its script must know of this gateway', async () => {
    const plain = await servePages(built)
    expect(siteIn((await plain.get('/')).text)).toEqual({
      name: 'Tollgate',
      logo: null,
      url: null,
      version: packageJson.version,
      pages: ['console', 'home', 'models', 'docs'],
      nonce: expect.any(String),
    })
    const named = await servePages(built, {
      SITE_NAME: 'Acme models',
      PUBLIC_URL: 'https://llm.example.com/',
      PAGES: 'docs, console',
    })
    const { text, headers } = await named.get('/console')
    expect(siteIn(text)).toMatchObject({
      name: 'Acme models',
      url: 'https://llm.example.com',
      pages: ['console', 'docs'],
    })
    expect(text).toContain('<title>Acme models</title>')
    // Links to images begin with PUBLIC_URL.
    expect(headers['content-security-policy']).toContain(
      "img-src 'self' data: blob: https://llm.example.com;",
    )
  })

  test('shows a name with signs of HTML as text', async () => {
    const name = `</script><b>"A" & 'B' $& $1`
    const { get } = await servePages(built, { SITE_NAME: name })
    const { text } = await get('/')
    expect(text.match(/<\/script>/g)).toHaveLength(1)
    expect(text).not.toContain('<b>')
    expect(siteIn(text).name).toBe(name)
    expect(text).toContain(
      '<title>&#60;/script&#62;&#60;b&#62;&#34;A&#34; &#38; &#39;B&#39; $&#38; $1</title>',
    )
  })

  test('is answered to HEAD without its body', async () => {
    const { get } = await servePages(built)
    const { status, headers, text } = await get('/console', {}, 'HEAD')
    expect(status).toBe(200)
    expect(Number(headers['content-length'])).toBeGreaterThan(index.length)
    expect(text).toBe('')
  })

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('is not answered to %s', async (method) => {
    const { get } = await servePages(built)
    expect(await get('/console', {}, method)).toMatchObject({ status: 404, text: 'left' })
    expect(await get('/assets/main-abc.js', {}, method)).toMatchObject({ status: 404, text: 'left' })
  })

  test('is not what an SDK without /v1 in its base URL gets at /models', async () => {
    const { get } = await servePages(built)
    for (const headers of [
      { accept: 'application/json' },
      { authorization: 'Bearer tg-key', accept: '*/*' },
      { 'x-api-key': 'tg-key' },
    ]) {
      expect(await get('/models', headers)).toMatchObject({ status: 404, text: 'left' })
    }
    expect((await get('/models', { accept: '*/*' })).status).toBe(200)
    expect((await get('/models', { authorization: 'Basic b3BzOm9wcw==' })).status).toBe(200)
  })

  test.each(['/nothing', '/modelsx', '/Console', '/consoles/x', '/v1/models', '/admin/v1/session', '/%zz'])(
    '%s is none',
    async (path) => {
      const { get } = await servePages(built)
      expect(await get(path)).toMatchObject({ status: 404, text: 'left' })
    },
  )
})

describe('an address without a page', () => {
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8'
  const hasModel = async (id: string) => id === 'acme/small:free'

  test.each([
    '/nothing',
    '/console/nothing',
    '/console/users/one',
    '/consolex',
    '/docs/nothing',
    '/docs/clients/README',
    '/docs/../index',
    '/models/nothing',
  ])('%s is a 404 with a page and a title of its own for a browser', async (path) => {
    const { get } = await servePages(built, { SITE_NAME: 'Acme' }, hasModel)
    const { status, headers, text } = await get(path, { accept })
    expect(status).toBe(404)
    expect(text).toContain('<title>No such page · Acme</title>')
    expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', vary: 'accept' })
    expect(headers['content-security-policy']).toContain(`'nonce-${siteIn(text).nonce}'`)
  })

  test('is left to the API for programs, and below the paths of the API', async () => {
    const { get } = await servePages(built)
    for (const headers of [
      {},
      { accept: '*/*' },
      { accept: 'application/json' },
      { accept, 'x-api-key': 'tg' },
    ])
      expect(await get('/nothing', headers)).toMatchObject({ status: 404, text: 'left' })
    for (const path of ['/v1/nothing', '/V1', '/admin/v1/nothing', '/public/nothing'])
      expect(await get(path, { accept })).toMatchObject({ status: 404, text: 'left' })
    const off = await servePages(built, { PAGES: 'none' })
    expect(await off.get('/nothing', { accept })).toMatchObject({ status: 404, text: 'left' })
  })

  test('is there for a public model by any name, and while no one can say', async () => {
    const { get } = await servePages(built, {}, hasModel)
    for (const path of ['/models/acme/small:free', '/models/acme%2Fsmall%3Afree'])
      expect((await get(path, { accept })).status, path).toBe(200)
    const away = await servePages(built, {}, () => Promise.reject(new Error('away')))
    expect((await away.get('/models/any', { accept })).status).toBe(200)
  })

  test('is none that the console knows', async () => {
    const routes = readFileSync(join(repository, 'console/src/console-routes.tsx'), 'utf8')
    const { get } = await servePages(built)
    const paths = [...routes.matchAll(/(?:path: |page\()'(\/console[^']*)'/g)].map(([, path = '']) => path)
    expect(paths.length).toBeGreaterThan(20)
    for (const path of paths)
      expect((await get(path.replace('$id', 'one'), { accept })).status, path).toBe(200)
    for (const parent of ['log', 'jobs', 'alerts', 'audit'])
      expect((await get(`/console/${parent}/one`, { accept })).status, parent).toBe(200)
  })
})

describe('a page that is off', () => {
  test('is not there, with its files', async () => {
    const { get } = await servePages(built, { PAGES: 'home,models' })
    for (const path of ['/docs', '/docs/index.md', '/%64ocs/index.md', '/console', '/console/log'])
      expect(await get(path), path).toMatchObject({ status: 404, text: 'left' })
    for (const path of ['/', '/models', '/models/list.txt', '/assets/main-abc.js'])
      expect((await get(path)).status, path).toBe(200)
  })

  test('leads to the console where only the home page is off', async () => {
    const consoleOnly = await servePages(built, { PAGES: 'console' })
    expect(await consoleOnly.get('/')).toMatchObject({ status: 302, headers: { location: '/console' } })
    const modelsOnly = await servePages(built, { PAGES: 'models' })
    expect((await modelsOnly.get('/')).status).toBe(404)
  })

  test('none are on with PAGES=none', async () => {
    const { get } = await servePages(built, { PAGES: 'none' })
    for (const path of ['/', '/console', '/assets/main-abc.js', '/site/icon'])
      expect((await get(path)).status, path).toBe(404)
  })
})

describe('a file', () => {
  test('goes compressed to those who take that, and browsers keep it indefinitely', async () => {
    const { get } = await servePages(built)
    const path = '/assets/main-abc.js'
    const [plain, gzip, brotli] = await Promise.all([
      get(path),
      get(path, { 'accept-encoding': 'gzip, deflate' }),
      get(path, { 'accept-encoding': 'gzip, deflate, br, zstd' }),
    ])
    expect(plain.text).toBe(script)
    expect(plain.headers['content-encoding']).toBeUndefined()
    expect(gzip.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(gzip.bytes).toString()).toBe(script)
    expect(brotli.headers['content-encoding']).toBe('br')
    expect(brotliDecompressSync(brotli.bytes).toString()).toBe(script)
    for (const { headers } of [plain, gzip, brotli]) {
      expect(headers).toMatchObject({
        'content-type': 'text/javascript',
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
        vary: 'Accept-Encoding',
      })
    }
  })

  test('without a hash in its name is asked for again, and is UTF-8', async () => {
    const { get, folder } = await servePages(built)
    const first = await get('/docs/index.md')
    expect(first).toMatchObject({
      status: 200,
      text: '# Dokumente für alle\n',
      headers: { 'content-type': 'text/markdown; charset=utf-8', 'cache-control': 'no-cache' },
    })
    const etag = first.headers.etag ?? ''
    expect((await get('/docs/index.md', { 'if-none-match': etag })).status).toBe(304)
    replace(folder, 'docs/index.md', '# A longer text than before\n')
    replace(folder, 'index.html', index)
    expect((await get('/docs/index.md', { 'if-none-match': etag })).text).toBe(
      '# A longer text than before\n',
    )
  })

  test('is answered whole, whatever range is asked for', async () => {
    const { get } = await servePages(built)
    for (const range of ['bytes=5-2', 'bytes=0-10', 'bytes=-1', 'lines=1'])
      expect(await get('/assets/main-abc.js', { range }), range).toMatchObject({ status: 200, text: script })
  })

  test.each([
    '/index.html',
    '/index.html/',
    '/%69ndex.html',
    '/assets/',
    '/assets',
    '/assets/../index.html',
    '/assets/%2e%2e/index.html',
    '/assets/..%2f..%2f..%2fetc/passwd',
    '/assets/../../secret.txt',
    '/../secret.txt',
    '/assets/%5c..%5c..%5csecret.txt',
    '/.hidden',
    '/.hidden/index.html',
    '/site/logo',
    '/site',
  ])('%s is none', async (path) => {
    const { get, folder } = await servePages({ ...built, '.hidden/index.html': index })
    writeFileSync(join(folder, '../secret.txt'), 'secret')
    try {
      expect(await get(path)).toMatchObject({ status: 404, text: 'left' })
    } finally {
      rmSync(join(folder, '../secret.txt'))
    }
  })

  test('that disappears cuts its own answer, and nothing else', async () => {
    const { get, folder } = await servePages(built)
    expect((await get('/assets/main-abc.js')).status).toBe(200)
    rmSync(join(folder, 'assets/main-abc.js'))
    await expect(get('/assets/main-abc.js')).rejects.toThrow()
    expect((await get('/')).status).toBe(200)
  })
})

describe('a new build', () => {
  test('in the place of the one before is served without a restart, whichever of its files is asked for first', async () => {
    const { get, folder } = await servePages(built)
    expect((await get('/')).text).not.toContain('new.js')
    writeFiles(`${folder}-new`, {
      'index.html': index.replace('</body>', '<script src="/assets/new.js"></script></body>'),
      'assets/new.js': 'export {}',
    })
    renameSync(folder, `${folder}-old`)
    renameSync(`${folder}-new`, folder)
    expect((await get('/assets/new.js')).status).toBe(200)
    expect((await get('/')).text).toContain('new.js')
  })

  test('that is not there yet is reported, in a page that asks again by itself', async () => {
    const { get, folder } = await servePages({}, { SITE_NAME: '<b>' })
    symlinkSync(join(repository, 'node_modules'), join(folder, '../../node_modules'))
    writeFiles(folder, { '../src/main.ts': '' })
    const before = await get('/console', { connection: 'keep-alive' })
    expect(before).toMatchObject({
      status: 503,
      headers: { 'retry-after': '2', 'cache-control': 'no-store', connection: 'close' },
    })
    expect(before.text).toContain('<meta http-equiv="refresh" content="2">')
    expect(before.text).toContain('· &#60;b&#62;</title>')
    expect(before.text).not.toContain('<script')
    const [, nonce] = /<style nonce="([^"]+)">/.exec(before.text) ?? []
    expect(before.headers['content-security-policy']).toContain(`'nonce-${nonce}'`)
    expect((await get('/site/icon')).status).toBe(200)
    expect((await get('/assets/main-abc.js')).status).toBe(404)
    writeFiles(folder, built)
    expect((await get('/console')).status).toBe(200)
    expect((await get('/assets/main-abc.js')).status).toBe(200)
  })
})

describe('the logo', () => {
  const svg =
    '\uFEFF<?xml version="1.0"?>\n<!-- made by hand -->\n<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
  const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(20)])
  const webp = Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBPVP8 ', 'latin1'), Buffer.alloc(20)])

  test.each([
    ['image/svg+xml', Buffer.from(svg)],
    ['image/png', png],
    ['image/webp', webp],
  ])('of type %s is served as that, and runs no script', async (type, bytes) => {
    const { get } = await servePages(built, { SITE_LOGO: fileWith(bytes) })
    for (const path of ['/site/logo', '/site/icon']) {
      const got = await get(path)
      expect(got).toMatchObject({
        status: 200,
        headers: {
          'content-type': type,
          'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
          'x-content-type-options': 'nosniff',
        },
      })
      expect(got.bytes.equals(bytes)).toBe(true)
    }
    expect(siteIn((await get('/')).text).logo).toBe('/site/logo')
  })

  test('that is not an image, too large or not there ends the start with the reason', async () => {
    const refused = async (path: string) => await servePages(built, { SITE_LOGO: path }).catch(reasonsOf)
    expect(await refused(fileWith('GIF89a'))).toMatch(/^SITE_LOGO: \S+ is not an SVG, PNG or WebP image$/)
    expect(await refused(fileWith('<html><p>text</p></html>'))).toMatch(/is not an SVG/)
    expect(await refused(fileWith(Buffer.concat([png, Buffer.alloc(262_144)])))).toMatch(
      /cannot read \S+: expected at most 262144 bytes \(256 KiB\), got 262172$/,
    )
    expect(await refused('/nowhere/logo.svg')).toMatch(/cannot read \S+: ENOENT/)
    expect(await refused('/')).toMatch(/cannot read/)
  })
})

function fileWith(content: string | Buffer): string {
  const path = join(temporaryFolder(), 'logo')
  writeFileSync(path, content)
  return path
}

function reasonsOf(error: Error): string {
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}

/** As the build does: another file gets the name. */
function replace(folder: string, path: string, content: string): void {
  writeFileSync(join(folder, 'replacement'), content)
  renameSync(join(folder, 'replacement'), join(folder, path))
}
