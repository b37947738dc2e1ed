import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { type Block, matches } from './document-blocks.ts'

const repository = resolve(import.meta.dirname, '../..')

/** The parts of a checkout that the commands of documents need. */
const parts = ['package.json', 'runtime.cjs', 'tollgate.cjs', 'src', 'workers', 'migrations', 'node_modules']

/** The port of `npm start` in documents that set no PORT. */
const usualPort = '8787'

const errorStatus = /HTTP\/1\.1 [45]\d\d/

/** Acts like a reader who pastes the blocks of a document, one after the other, in a checkout of their own. */
export class DocumentRun {
  readonly #directory = mkdtempSync(join(tmpdir(), 'tollgate-document-'))
  readonly #replaced: ReadonlyMap<string, string>
  readonly #programs: string | undefined
  readonly #started: Started | undefined
  readonly #servers = new Map<string, Server>()
  readonly #shell: ChildProcess
  readonly #codes: AsyncIterator<string>
  #newestKey: string | undefined
  /** The server that was started last. */
  #newest: Server | undefined
  #printed = ''
  /** The printed text if it holds an error status, which the document must show next. */
  #refused: string | undefined
  #count = 0

  /**
   * `replaced`: replacements for addresses that a test cannot call. `programs`: a folder of programs that come
   * first. `started`: a gateway that runs already.
   */
  constructor(
    replaced: ReadonlyMap<string, string> = new Map(),
    { programs, started }: { programs?: string; started?: Started } = {},
  ) {
    this.#replaced = replaced
    this.#programs = programs
    this.#started = started
    for (const part of parts) symlinkSync(join(repository, part), join(this.#directory, part))
    // With this, curl fails on an error status, and never hangs.
    writeFileSync(join(this.#directory, '.curlrc'), 'silent\nshow-error\nfail-with-body\nmax-time = 60\n')
    this.#shell = spawn('bash', ['--norc', '--noprofile'], {
      cwd: this.#directory,
      env: this.#environment(),
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
    })
    if (this.#shell.stdout === null) throw new Error('the shell has no output')
    this.#codes = createInterface({ input: this.#shell.stdout })[Symbol.asyncIterator]()
  }

  /** Throws if a block fails, or prints something other than the document shows. */
  async follow({ language, text: written }: Pick<Block, 'language' | 'text'>): Promise<void> {
    const text = this.#filledIn(written)
    if (this.#refused !== undefined && !errorStatus.test(text))
      throw new Error(`the block before it gets an error, which the document does not show\n${this.#refused}`)
    this.#refused = undefined
    switch (language) {
      case 'sh':
        // The packages are installed already: this test runs with them.
        if (text === 'npm ci' || /^pip install \S+$/.test(text)) return
        if (startsServer(text)) await this.#start(text)
        else await this.#run(text)
        return
      case 'ts':
        await this.#run(`node ${this.#write('mjs', text)}`)
        return
      case 'python':
        await this.#run(`python ${this.#write('py', text)}`)
        return
      case 'yaml':
        writeFileSync(join(this.#directory, 'gateway.yaml'), text)
        return
      case 'json':
      case 'text':
        if (!matches(text, this.#printed))
          throw new Error(`it prints\n${this.#printed}\nand not what the document shows:\n${text}`)
        return
      case 'jsonc':
        // The configuration of another program: it is read by no one here, but must be readable.
        JSON.parse(text.replace(/^ *\/\/.*$/gm, ''))
        return
      case 'toml':
        return
      default:
        throw new Error(`nobody knows how to follow a block of "${language}"`)
    }
  }

  /** The output of the last block. */
  get printed(): string {
    return this.#printed
  }

  async end(): Promise<void> {
    kill(this.#shell)
    for (const server of this.#servers.values()) await server.stop()
    rmSync(this.#directory, { recursive: true, force: true })
  }

  /** Starts instead of the gateway that had the same port before. */
  async #start(text: string): Promise<void> {
    const port = /\bPORT=(\d+)/.exec(text)?.[1] ?? usualPort
    await this.#servers.get(port)?.stop()
    this.#servers.delete(port)
    const command = text
      .replace(/^npm ci && /m, '')
      .replace(/\bPORT=\d+/, 'PORT=0')
      .replace(/^(.*)\bnpm start$/m, 'exec env $1npm start')
    const server =
      text === this.#started?.command
        ? { ...this.#started, origin: originIn(this.#started.printed), stop: async () => {} }
        : await startServer(command, this.#directory, { ...this.#environment(), PORT: '0' })
    this.#servers.set(port, server)
    this.#newest = server
    this.#printed = server.printed
    this.#newestKey = newKeyIn(server.printed) ?? this.#newestKey
  }

  async #run(text: string): Promise<void> {
    const script = this.#write('sh', text)
    const out = join(this.#directory, `${this.#count}.out`)
    this.#shell.stdin?.write(
      `set -E -o pipefail; failed=0; trap 'failed=$?' ERR; source ${script} >${out} 2>${out}.err </dev/null; trap - ERR; echo $failed\n`,
    )
    const { value: code } = await this.#codes.next()
    this.#printed = readFileSync(out, 'utf8')
    // The exit code of curl for an error status.
    if (code === '22' && errorStatus.test(this.#printed)) this.#refused = this.#printed
    else if (code !== '0')
      throw new Error(`exit code ${code}\n${this.#printed}\n${readFileSync(`${out}.err`, 'utf8')}`)
  }

  #write(extension: string, text: string): string {
    this.#count++
    const name = `block-${this.#count}.${extension}`
    writeFileSync(join(this.#directory, name), text)
    return `./${name}`
  }

  /** The text with the addresses, the key and the set-up link that the servers of this run printed. */
  #filledIn(text: string): string {
    let filled = text
    for (const [shown, real] of this.#replaced) filled = filled.replaceAll(shown, real)
    for (const [port, server] of this.#servers)
      filled = filled.replaceAll(`http://127.0.0.1:${port}`, server.origin)
    const link = /\btgl_\w+/.exec(this.#newest?.printed ?? '')?.[0]
    if (link !== undefined) filled = filled.replaceAll('tgl_...', link)
    return this.#newestKey === undefined ? filled : filled.replaceAll('tg-...', this.#newestKey)
  }

  #environment(): NodeJS.ProcessEnv {
    const programs = this.#programs === undefined ? [] : [this.#programs]
    const path = [...programs, dirname(process.execPath), process.env.PATH].join(delimiter)
    return { PATH: path, HOME: this.#directory, TMPDIR: process.env.TMPDIR ?? tmpdir() }
  }
}

/** A gateway that another run has started, and ends. */
export interface Started {
  /** A block that is this command uses the gateway; all others start their own. */
  command: string
  /** What the start is taken to have printed. */
  printed: string
}

/** The address in the greeting, without `/v1`. Empty before it is printed. */
export function originIn(printed: string): string {
  return /^base URL: (\S+)\/v1$/m.exec(printed)?.[1] ?? ''
}

/** The secret of the key that a start has made. */
export function newKeyIn(printed: string): string | undefined {
  return /new key \(shown only once\): (\S+)/.exec(printed)?.[1]
}

interface Server {
  origin: string
  readonly printed: string
  /** Rejects if the server does not end properly. */
  stop(): Promise<void>
}

function startsServer(text: string): boolean {
  return /\bnpm start$/m.test(text)
}

/** Resolves once the server has printed its greeting. */
function startServer(command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<Server> {
  const child = spawn('bash', ['-c', command], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let printed = ''
  let errors = ''
  child.stderr.on('data', (data) => {
    errors += data
  })
  const exited = new Promise<number | null>((done) => child.once('exit', done))
  const stop = async () => {
    child.kill('SIGTERM')
    const code = await exited
    kill(child)
    if (code !== 0) throw new Error(`npm start ended with ${code}:\n${errors}`)
  }
  return new Promise((done, reject) => {
    void exited.then((code) => reject(new Error(`npm start ended with ${code}:\n${printed}${errors}`)))
    child.stdout.on('data', (data) => {
      printed += data
      const origin = originIn(printed)
      // That is the last line of the greeting.
      if (origin !== '' && /\/v1\/usage\/requests .*\n/.test(printed))
        done({
          origin,
          get printed() {
            return printed
          },
          stop,
        })
    })
  })
}

/** Kills a process and all that it started. */
function kill({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // All of them have ended already.
  }
}
