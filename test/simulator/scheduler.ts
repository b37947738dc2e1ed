import * as timers from 'node:timers'
import type { Clock } from '../../src/runtime/clock.ts'
import type { Random } from '../support/random.ts'

/** What is thrown in a process that dies in the middle of a call to its disk. */
export class Death extends Error {
  override readonly name = 'Death'
}

/** A simulated process: all that it does are tasks, and a dead one has none. */
export interface Process {
  readonly pid: number
  isAlive: boolean
  /** It does nothing before this time. */
  frozenUntil: number
  /** How many more steps it takes before it dies. */
  stepsLeft: number
  onDeath(): void
}

interface Task {
  at: number
  order: number
  /** Undefined: nobody's, such as that of Postgres. */
  owner: Process | undefined
  run: (() => void) | undefined
}

/** The time at which each world begins. */
const epochMs = Date.UTC(2026, 10, 30)
const realImmediate = timers.setImmediate

/**
 * Runs all processes of a world in one thread, one task at a time, in an order that follows from the seed. A task runs
 * until everything waits: for a timer, a message, the disk or Postgres.
 */
export class Scheduler {
  readonly random: Random
  readonly #tasks: Task[] = []
  #order = 0
  #now = 0
  #current: Process | undefined
  /** Changes with every task and with everything that is noted, so two equal runs have equal digests. */
  digest = 0
  tasks = 0
  /** A rejection that ends a process, because it handles it nowhere. */
  unhandled: unknown
  readonly clock: Clock = { now: () => epochMs + Math.floor(this.#now), elapsed: () => this.#now }

  constructor(random: Random) {
    this.random = random
  }

  /** Milliseconds since the start of the world. */
  get now(): number {
    return this.#now
  }

  /** Whose task runs. */
  get current(): Process | undefined {
    return this.#current
  }

  /** Milliseconds from 0 to `most`. */
  anyMs(most: number): number {
    return this.random.next() * most
  }

  after(ms: number, owner: Process | undefined, run: () => void): Task {
    const task: Task = { at: this.#now + Math.max(0, ms), order: this.#order++, owner, run }
    this.#push(task)
    return task
  }

  cancel(task: Task): void {
    task.run = undefined
  }

  sleep(ms: number, owner: Process | undefined): Promise<void> {
    return new Promise((resolve) => this.after(ms, owner, resolve))
  }

  /** Counts a step of the process whose task runs, which may be its last. */
  step(): void {
    const process = this.#current
    if (process === undefined) return
    if (process.isAlive && --process.stepsLeft <= 0) this.kill(process)
    if (!process.isAlive) throw new Death('the process is dead')
  }

  kill(process: Process): void {
    if (!process.isAlive) return
    process.isAlive = false
    process.onDeath()
  }

  note(...words: (string | number)[]): void {
    for (const word of words) {
      const text = String(word)
      for (let i = 0; i < text.length; i++)
        this.digest = (Math.imul(this.digest, 31) + text.charCodeAt(i)) | 0
    }
  }

  /** Runs tasks until `isOver`, or until none is left or `untilMs` has come. Returns whether it is over. */
  async run(isOver: () => boolean, untilMs = Number.POSITIVE_INFINITY): Promise<boolean> {
    while (!isOver()) {
      const task = this.#pop()
      if (task === undefined || task.at > untilMs) return false
      const { owner, run } = task
      if (run === undefined || owner?.isAlive === false) continue
      if (owner !== undefined && owner.frozenUntil > task.at) {
        task.at = owner.frozenUntil
        this.#push(task)
        continue
      }
      this.#now = Math.max(this.#now, task.at)
      this.#current = owner
      this.tasks++
      this.note(this.#now, owner?.pid ?? 0)
      try {
        this.step()
        run()
      } catch (error) {
        if (!(error instanceof Death)) throw error
      }
      // All promises that this task has settled continue before the next one.
      await new Promise((resolve) => realImmediate(resolve))
      this.#current = undefined
      if (this.unhandled !== undefined) throw this.unhandled
    }
    return true
  }

  /** Runs `work` with timers and a process id that are those of the simulated process whose task runs. */
  async instead<T>(work: () => Promise<T>): Promise<T> {
    const real = { ...timers }
    const pid = Object.getOwnPropertyDescriptor(process, 'pid')
    const set = (name: 'setTimeout' | 'setInterval' | 'setImmediate', isRepeated: boolean) =>
      define(name, (run: () => void, ms = 0) =>
        this.#current === undefined
          ? real[name](run, ms)
          : this.#timer(name === 'setImmediate' ? 0 : ms + this.anyMs(1), run, isRepeated),
      )
    set('setTimeout', false)
    set('setInterval', true)
    set('setImmediate', false)
    for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate'] as const)
      define(name, (timer: Timer | undefined) => {
        if (timer instanceof Timer) timer.end()
        else real[name](timer)
      })
    const realPid = process.pid
    Object.defineProperty(process, 'pid', {
      get: () => this.#current?.pid ?? realPid,
      configurable: true,
      enumerable: true,
    })
    const listeners = process.rawListeners('unhandledRejection')
    process.removeAllListeners('unhandledRejection')
    process.on('unhandledRejection', (error) => {
      if (this.#current?.isAlive !== false) this.unhandled ??= error
    })
    try {
      return await work()
    } finally {
      process.removeAllListeners('unhandledRejection')
      for (const listener of listeners) process.on('unhandledRejection', listener as () => void)
      for (const [name, value] of Object.entries(real)) define(name, value)
      if (pid) Object.defineProperty(process, 'pid', pid)
    }
  }

  #timer(ms: number, run: () => void, isRepeated: boolean): Timer {
    const owner = this.#current
    const timer = new Timer(this, () =>
      this.after(ms, owner, () => {
        if (isRepeated) timer.plan()
        run()
      }),
    )
    timer.plan()
    return timer
  }

  #push(task: Task): void {
    const tasks = this.#tasks
    let at = tasks.length
    tasks.push(task)
    while (at > 0) {
      const parent = (at - 1) >> 1
      const above = tasks[parent]
      if (above === undefined || !isBefore(task, above)) break
      tasks[at] = above
      at = parent
    }
    tasks[at] = task
  }

  #pop(): Task | undefined {
    const tasks = this.#tasks
    const [first] = tasks
    const last = tasks.pop()
    if (last === undefined || last === first) return first
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      const [left, right] = [tasks[child], tasks[child + 1]]
      if (left !== undefined && right !== undefined && isBefore(right, left)) child++
      const below = tasks[child]
      if (below === undefined || !isBefore(below, last)) break
      tasks[at] = below
      at = child
    }
    tasks[at] = last
    return first
  }
}

/** What a simulated process has in place of a timer of Node. */
class Timer {
  readonly #scheduler: Scheduler
  readonly #next: () => Task
  #task: Task | undefined

  constructor(scheduler: Scheduler, next: () => Task) {
    this.#scheduler = scheduler
    this.#next = next
  }

  plan(): void {
    this.#task = this.#next()
  }

  end(): void {
    if (this.#task !== undefined) this.#scheduler.cancel(this.#task)
  }

  unref(): this {
    return this
  }
}

function define(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
}

function isBefore(a: Task, b: Task): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}
