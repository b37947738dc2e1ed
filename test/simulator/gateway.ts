import type { ClientConfig } from 'pg'
import { registerInstance, registration } from '../../src/shipping/instances.ts'
import { Ledger, type LedgerOptions, type Thread } from '../../src/shipping/ledger.ts'
import { Shipper } from '../../src/shipping/shipper.ts'
import type { FromShipper, ShipperData, ToShipper } from '../../src/shipping/shipper-messages.ts'
import { relayLog } from '../../src/telemetry/relay-log.ts'
import { aClose, anOpen } from '../support/records.ts'
import { SimulatedClient } from './client.ts'
import type { Request } from './requests.ts'
import type { Process } from './scheduler.ts'
import { refusedText } from './statements.ts'
import type { Host, World } from './world.ts'

const accountId = '019363f0-0000-7000-8000-000000000001'

/** A simulated gateway process: the real ledger, with its real shipper, on a simulated machine. */
export class Gateway implements Process {
  readonly #world: World
  readonly host: Host
  readonly pid: number
  isAlive = true
  frozenUntil = 0
  frozenSince = 0
  stepsLeft = Number.POSITIVE_INFINITY
  readonly #clients: SimulatedClient[] = []
  /** The running requests, with how to cut each. */
  readonly #running = new Map<string, () => void>()
  ledger: Ledger | undefined
  /** When it did something for the last time. */
  diedAt: number | undefined
  /** When its disk failed. What was written then may only be in memory. */
  readonly troubles: { from: number; to: number }[] = []
  /** Since when its journal may be read by nobody, because another process has adopted it. */
  uncarriedSince: number | undefined
  isStopping = false
  isEnded = false

  constructor(world: World, host: Host, pid: number) {
    this.#world = world
    this.host = host
    this.pid = pid
    host.disk.start(this)
  }

  get running(): number {
    return this.#running.size
  }

  /** Whether its disk failed then, or up to `marginMs` later. */
  isInTroubleAt(at: number | undefined, marginMs = 0): boolean {
    return at !== undefined && this.troubles.some(({ from, to }) => at >= from - marginMs && at <= to)
  }

  onDeath(): void {
    this.#world.onDeath(this)
  }

  /** Its connections end now, or whenever Postgres notices. */
  abandonConnections(noticesInMs: number): void {
    for (const client of this.#clients) client.abandon(noticesInMs)
  }

  async start(): Promise<void> {
    const { scheduler, settings } = this.#world
    const instanceId = this.#newInstance()
    for (;;) {
      try {
        await this.#register(instanceId)
        break
      } catch {
        await scheduler.sleep(1_000, this)
      }
    }
    try {
      this.ledger = Ledger.start(this.#options(instanceId))
    } catch (error) {
      this.#world.tell(`process ${this.pid} cannot start: ${error}`)
      if (this.isAlive) this.#world.onExit(this)
      return
    }
    while (!this.isStopping) {
      for (let n = scheduler.random.upTo(settings.burstMax); n >= 0; n--) void this.#serve(this.ledger)
      await scheduler.sleep(scheduler.anyMs(settings.pauseMsMax), this)
    }
  }

  async end(): Promise<void> {
    this.isStopping = true
    await this.ledger?.end(20_000)
    this.isEnded = true
  }

  async #register(instanceId: string): Promise<void> {
    const client = this.#client({ query_timeout: 2_000 })
    await client.connect()
    const { durability } = this.#world.settings
    await client.query(registerInstance, registration({ instanceId, pid: this.pid, durability }))
    await client.end()
  }

  #options(instanceId: string): LedgerOptions {
    const { scheduler, settings } = this.#world
    return {
      dataDir: '/data',
      databaseUrl: 'postgres://simulated',
      instanceId,
      durability: settings.durability,
      sync: settings.sync,
      bounds: settings.bounds,
      clock: scheduler.clock,
      disk: this.host.disk,
      startThread: (_script, { workerData }) => this.#startThread(workerData),
      log: relayLog((level, fields, message) => {
        this.#world.tell(`process ${this.pid}: ${level} ${message} ${JSON.stringify(fields)}`)
        if (message === 'the journal cannot be written')
          this.troubles.push({ from: scheduler.now, to: Number.POSITIVE_INFINITY })
        const last = this.troubles.at(-1)
        if (message === 'the journal can be written again' && last !== undefined) last.to = scheduler.now
      }),
      onCut: (isCut) => {
        for (const [id, cut] of [...this.#running]) if (isCut(id)) cut()
      },
    }
  }

  #startThread(data: ShipperData): Thread {
    const { scheduler } = this.#world
    const early: ToShipper[] = []
    let toShipper: (message: ToShipper) => void = (message) => void early.push(message)
    let toLedger: (message: FromShipper) => void = () => {}
    const onExit: (() => void)[] = []
    const exit = () => {
      for (const listener of onExit.splice(0)) listener()
    }
    const sendDown = this.#inOrder((message: ToShipper) => toShipper(message))
    const sendUp = this.#inOrder((message: FromShipper) => toLedger(message))
    const port = {
      postMessage: sendUp,
      on: (_event: 'message', listener: (message: ToShipper) => void) => {
        toShipper = listener
        for (const message of early.splice(0)) listener(message)
      },
      close: () => void scheduler.after(1, this, exit),
    }
    const thread: Thread = {
      postMessage: (message) => {
        const isLive = this.#world.isLive(this.ledger?.instance.id)
        if (message.type === 'carried' && isLive) this.uncarriedSince = undefined
        sendDown(message)
      },
      on: (event: string, listener: (value: never) => void) => {
        if (event === 'message') toLedger = listener as typeof toLedger
        if (event === 'exit') onExit.push(listener as () => void)
      },
      unref: () => {},
      terminate: async () => exit(),
    }
    const machine = {
      disk: this.host.disk,
      newPostgresClient: (config: ClientConfig) => this.#client(config).asClient,
      newId: () => this.#newInstance(),
    }
    scheduler.after(1, this, () => {
      void new Shipper(port, data, scheduler.clock, exit, machine).run()
    })
    return thread
  }

  /** Messages arrive after a while, in the order in which they were sent. */
  #inOrder<Message>(deliver: (message: Message) => void): (message: Message) => void {
    const { scheduler } = this.#world
    let lastAt = 0
    return (message) => {
      scheduler.step()
      lastAt = Math.max(lastAt, scheduler.now + scheduler.anyMs(1))
      const copy = structuredClone(message)
      scheduler.after(lastAt - scheduler.now, this, () => deliver(copy))
    }
  }

  #client(config: ClientConfig): SimulatedClient {
    const { scheduler, store } = this.#world
    const client = new SimulatedClient(scheduler, store, this.host.wire, config)
    this.#clients.push(client)
    return client
  }

  #newInstance(): string {
    const id = this.#world.newId()
    this.#world.owners.set(id, this)
    return id
  }

  /** One request, from its first byte to its last, as the gateway handles it. */
  async #serve(ledger: Ledger): Promise<void> {
    const { scheduler, settings } = this.#world
    const { random } = scheduler
    const request = this.#world.newRequest(this)
    const userAgent = random.upTo(400) === 0 ? refusedText : `agent ${'x'.repeat(random.upTo(200))}`
    const body =
      random.upTo(3) === 0 ? null : Buffer.from(JSON.stringify({ text: 'y'.repeat(random.upTo(900)) }))
    const open = anOpen({ id: request.id, requestedModel: request.model, userAgent, body })
    const refused = aClose({ status: 503, outcome: 'refused', costNano: null, attempts: [] })
    const refuse = async () => {
      request.outcome = 'refused'
      request.costNano = 0n
      await ledger.refuse(open, refused)
      this.#acknowledge(request)
    }
    if (random.upTo(9) === 0) return refuse()
    try {
      await ledger.open(open)
    } catch {
      return refuse()
    }
    try {
      await ledger.opened(open)
    } catch {
      request.outcome = 'refused'
      request.costNano = 0n
      return ledger.close(open, refused).then(
        () => this.#acknowledge(request),
        () => {},
      )
    }
    if (!this.isAlive) return
    this.#world.onSent(request, ledger.instance.id)
    const cut = new Promise<void>((resolve) => this.#running.set(request.id, resolve))
    const ms = scheduler.anyMs(random.pick([0, 20, 20, 300, 300, settings.longestMs]))
    await Promise.race([cut, scheduler.sleep(ms, this)])
    const beganAt = scheduler.now
    const answered = aClose({ costNano: request.costNano, accountId, status: 200 })
    this.#running.delete(request.id)
    try {
      await ledger.close(open, answered)
    } catch {
      return
    }
    this.#acknowledge(request, beganAt)
    if (random.upTo(3) === 0)
      ledger.answers.keep({
        id: request.id,
        capture: 'content',
        truncated: false,
        answer: Buffer.from('{"a":1}'),
      })
  }

  #acknowledge(request: Request, beganAt?: number): void {
    if (this.isAlive) this.#world.onAcknowledged(request, beganAt)
  }
}
