import { existsSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { BuildMessage } from './build.ts'
import { isAlive, takeLock } from './build-lock.ts'
import { hashOfSources } from './sources.ts'
import { readRecord, swapIn } from './swap.ts'

/** How often we look whether another process has finished its build. */
const lookMs = 200
/** How many modules are read between two messages about them. */
const messageEvery = 100

/**
 * Build the pages of a checkout into console/dist, unless they are as new as their sources. Never rejects: `tell` gets how it
 * goes. Processes that call this at once build once.
 */
export async function buildPages(root: string, tell: (message: BuildMessage) => void): Promise<void> {
  const console = join(root, 'console')
  const folder = join(console, 'dist')
  const isBuilt = () => existsSync(join(folder, 'index.html'))
  try {
    const vite = existsSync(join(console, 'src')) ? viteOf(console) : undefined
    if (vite === undefined) {
      if (isBuilt()) tell({ event: 'fresh' })
      else tell({ event: 'failed', reason: howToGetThem })
      return
    }
    await mkdir(folder, { recursive: true })
    for (;;) {
      const hash = await hashOfSources(root)
      if (isBuilt() && (await readRecord(folder))?.hash === hash) {
        tell({ event: 'fresh' })
        return
      }
      const release = await takeLock(join(folder, '.lock'))
      if (release === undefined) {
        await sleep(lookMs)
        continue
      }
      try {
        await build({ vite, console, folder, hash, tell })
        return
      } finally {
        await release()
      }
    }
  } catch (cause) {
    tell({ event: 'failed', reason: reasonOf(cause) })
  }
}

const howToGetThem =
  'Neither built pages are in console/dist, nor is vite installed, which builds them. Run npm ci without --omit=dev, or copy console/dist from where npm run build:pages has run.'

interface Work {
  /** The address of vite's module. */
  vite: string
  console: string
  folder: string
  hash: string
  tell(message: BuildMessage): void
}

async function build({ vite, console, folder, hash, tell }: Work): Promise<void> {
  const startMs = performance.now()
  tell({ event: 'begun' })
  await removeLeftovers(folder)
  const made = join(folder, `.new-${process.pid}`)
  let modules = 0
  const counter = {
    name: 'tollgate-progress',
    moduleParsed() {
      modules++
      if (modules % messageEvery === 0) tell({ event: 'read', modules })
    },
  }
  const { build } = (await import(vite)) as Vite
  await build({
    root: console,
    logLevel: 'silent',
    // Node reads vite.config.ts as it is: nothing is written into node_modules.
    configLoader: 'native',
    build: { outDir: made, emptyOutDir: true },
    plugins: [counter],
  })
  await swapIn(made, folder, hash)
  tell({ event: 'built', seconds: (performance.now() - startMs) / 1_000 })
}

/** What we use of vite, whose types are for those who develop the pages. */
interface Vite {
  build(options: object): Promise<unknown>
}

/** Undefined: it is not installed. */
function viteOf(console: string): string | undefined {
  try {
    return pathToFileURL(createRequire(join(console, 'package.json')).resolve('vite')).href
  } catch {
    return undefined
  }
}

/** Of builds that were killed. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const pid = /^\.new-(\d+)$/.exec(name)?.[1]
    if (pid !== undefined && !isAlive(Number(pid)))
      await rm(join(folder, name), { recursive: true, force: true })
  }
}

function reasonOf(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause)
  const [message = ''] = text.split(/\s*Stack backtrace:/)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: vite colours its messages.
  return message.replace(/\u001b\[[\d;]*m/g, '').slice(0, 1_000)
}
