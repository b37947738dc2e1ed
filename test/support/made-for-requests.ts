import { AsyncLocalStorage, createHook } from 'node:async_hooks'
import type { Server } from 'node:http'

/** What this thread made for the requests of one server, and all that these began. Nothing else is counted. */
export interface MadeForRequests {
  /** Since the last call. Promises: each call of an async function, and each await, counts as one too. */
  take(): Made
  /** No timer of `shortMs` or less, no call to the disk, and no callback after a turn is left over from a request. */
  isAtRest(): boolean
  stop(): void
}

export interface Made {
  promises: number
  timers: number
  immediates: number
  /** Statements that this thread has sent to Postgres for them. */
  statements: number
  /** Where each was made, most first: `2 promise at admit (src/pipeline/admit.ts:28:9)`. */
  places(): string[]
}

const shortMs = 100

/**
 * Timers of the clocks that Node has for the `date` header, and undici for its timeouts. They run while there are requests, and
 * the first request after a second or two makes one anew.
 */
const clocks = ['resetCache', 'onTick']

/**
 * Call it before the server listens. A request hands on what it belongs to by the context of `AsyncLocalStorage`; so does the
 * connection to an upstream that a request has opened, and the requests after it use. Timers of the process, its connections to
 * Postgres and the test itself have no such context.
 */
export function watchRequests(server: Server): MadeForRequests {
  const context = new AsyncLocalStorage<true>()
  const left = new Set<number>()
  let made: MadeThing[] = []
  const hook = createHook({
    init(id, type, _trigger, resource) {
      if (context.getStore() === undefined) return
      const kind = kindOf(type, resource)
      if (kind !== undefined) made.push({ kind, at: whole(kind), resource })
      const isAwaited = type.startsWith('FSREQ') || type === 'Immediate'
      if (isAwaited || (type === 'Timeout' && isShort(resource))) left.add(id)
    },
    after: (id) => void left.delete(id),
    destroy: (id) => void left.delete(id),
  })
  // Both: the events of a connection belong to it, and not to its current request.
  for (const event of ['connection', 'request']) server.prependListener(event, () => context.enterWith(true))
  hook.enable()
  return {
    take() {
      const taken = made
      made = []
      const count = (kind: Kind) => taken.filter((one) => one.kind === kind).length
      return {
        promises: count('promise'),
        timers: count('timer'),
        immediates: count('immediate'),
        statements: taken.filter(isStatement).length,
        places: () => placesOf(taken),
      }
    },
    isAtRest: () => left.size === 0,
    stop: () => hook.disable(),
  }
}

type Kind = 'promise' | 'timer' | 'immediate'

interface MadeThing {
  kind: Kind
  resource: object
  /** Its stack says where. */
  at: Error
}

function kindOf(type: string, resource: object): Kind | undefined {
  if (type === 'PROMISE') return 'promise'
  if (type === 'Immediate') return 'immediate'
  return type === 'Timeout' && !isClock(resource) ? 'timer' : undefined
}

/** Node has no public names for what a timer calls, and after how long. */
function isClock(timer: object): boolean {
  const called = '_onTimeout' in timer ? timer._onTimeout : undefined
  return typeof called === 'function' && clocks.includes(called.name)
}

function isShort(timer: object): boolean {
  return '_idleTimeout' in timer && Number(timer._idleTimeout) <= shortMs
}

/** For postgres.js, each statement is a promise of a class of its own. */
function isStatement({ kind, resource }: MadeThing): boolean {
  return kind === 'promise' && resource.constructor.name === 'Query'
}

/** An Error with more lines than usual: Node has many of its own in front of ours. */
function whole(message: string): Error {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 40
  const error = new Error(message)
  Error.stackTraceLimit = stackTraceLimit
  return error
}

function placesOf(made: readonly MadeThing[]): string[] {
  const counts = new Map<string, number>()
  for (const { kind, at } of made) {
    const place = `${kind} at ${placeOf(at)}`
    counts.set(place, (counts.get(place) ?? 0) + 1)
  }
  return [...counts].sort(([, a], [, b]) => b - a).map(([place, count]) => `${count} ${place}`)
}

/** The first line of our code or of a package. The engine makes some promises without one: those of `return promise`, for example. */
function placeOf({ stack = '' }: Error): string {
  const isOfHook = (line: string) =>
    line.includes(import.meta.filename) || line.includes('node:internal/async_hooks')
  const lines = stack.split('\n').filter((line) => /^\s+at /.test(line) && !isOfHook(line))
  const line =
    lines.find((one) => /:\d/.test(one) && !one.includes('node:')) ?? lines[0] ?? 'at an unknown place'
  return line.trim().replace(/^at /, '').replace('file://', '').replace(`${process.cwd()}/`, '')
}
