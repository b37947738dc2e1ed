import type { LedgerOptions } from '../../src/shipping/ledger.ts'
import { Random } from '../support/random.ts'
import type { Wire } from './client.ts'
import { journals, SimulatedDisk, syncMsMax } from './disk.ts'
import { Gateway } from './gateway.ts'
import { checkPromises, checkRows, type Request, requestsIn, Violation } from './requests.ts'
import { Scheduler } from './scheduler.ts'
import { statements } from './statements.ts'
import { Store, type StoredInstance } from './store.ts'

export interface Host {
  disk: SimulatedDisk
  wire: Wire
}

export interface WorldOptions {
  seed: number
  /** How many processes die before the world comes to rest. */
  deaths: number
  durability?: 'journal' | 'postgres'
  sync?: 'process' | 'disk'
  /** Breaks a promise that the ledger relies on. */
  fault?: 'syncs nothing' | 'loses rows' | 'loses positions'
}

export interface WorldReport {
  deaths: number
  requests: number
  /** Simulated time. */
  ms: number
  /** Equal for two runs that were equal. */
  digest: string
}

const instanceDeadMs = 3_000
const durableMs = 2_000
/** The timer of a sync, one that was running, and the syncs of some files with their folders. */
const unsyncedMs = 10 + 1 + 10 * syncMsMax
/** A world that has not come to rest after this time repeats something for ever. */
const restMs = 20 * 60_000

/**
 * Some gateway processes on one or two hosts with one Postgres. By chance processes are killed at any step, hosts lose their power
 * or their disks, processes freeze, disks fill up and fail, connections break. Everything follows from the seed.
 */
export class World {
  readonly scheduler: Scheduler
  readonly store: Store
  readonly settings
  readonly hosts: readonly Host[]
  readonly requests = new Map<string, Request>()
  /** The process that has or had each instance id. */
  readonly owners = new Map<string, Gateway>()
  #gateways: Gateway[] = []
  #deaths = 0
  readonly #deathsMax: number
  #isCalm = false
  #isEnding = false
  /** What was written before a failed sync may be shipped, and is written again. A lost process may end a request twice. */
  #hasSecondRows = false
  #nextPid = 100
  #nextId = 1
  readonly #lines: string[] = []
  #violation: unknown

  constructor({ seed, deaths, fault, ...fixed }: WorldOptions) {
    const random = new Random(seed)
    this.scheduler = new Scheduler(random)
    this.#deathsMax = deaths
    this.store = new Store(this.scheduler, statements)
    this.store.losesRows = fault === 'loses rows'
    this.store.losesPositions = fault === 'loses positions'
    this.store.onState = (...change) => this.#onState(...change)
    this.settings = { ...settingsBy(random), ...fixed }
    const hosts = this.settings.durability === 'postgres' ? 2 : 1 + random.upTo(1)
    const hasContainers = random.upTo(2) === 0
    this.hosts = Array.from({ length: hosts }, () => {
      const disk = new SimulatedDisk(this.scheduler)
      disk.hasContainers = hasContainers
      disk.liesAboutSyncs = fault === 'syncs nothing'
      disk.onUnlink = (path, bytes) => this.#onUnlink(disk, path, bytes)
      return { disk, wire: { ...goodWire } }
    })
  }

  /** Runs the world to its end. Rejects with a Violation whose message has the last lines of what happened. */
  async run(): Promise<WorldReport> {
    try {
      return await this.scheduler.instead(() => this.#run())
    } catch (error) {
      const message =
        error instanceof Violation ? error.message : String(error instanceof Error ? error.stack : error)
      throw new Violation(`${message}\n${this.#lines.slice(-40).join('\n')}`)
    }
  }

  async #run(): Promise<WorldReport> {
    const { random } = this.scheduler
    for (const host of this.hosts) for (let n = random.upTo(2); n >= 0; n--) this.#start(host)
    this.#planFaults()
    await this.#until(() => this.#deaths >= this.#deathsMax)
    this.#calm()
    await this.#comeToRest()
    checkRows(this.requests, this.store, this.#knownIds())
    checkPromises(this.requests.values(), this.store)
    const { now, digest } = this.scheduler
    return { deaths: this.#deaths, requests: this.requests.size, ms: now, digest: `${digest} ${now}` }
  }

  tell(line: string): void {
    const text = `${this.scheduler.now.toFixed(2)} ${line}`
    this.scheduler.note(text)
    this.#lines.push(text)
    if (process.env.SIMULATOR_TRACE !== undefined) process.stderr.write(`${text}\n`)
  }

  isLive(instance: string | undefined): boolean {
    return this.store.look(() => this.store.instances.get(instance ?? '')?.state === 'live')
  }

  /** A uuidv7 of the simulated time. */
  newId(): string {
    const time = this.scheduler.clock.now().toString(16).padStart(12, '0')
    const number = (this.#nextId++).toString(16).padStart(12, '0')
    return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${number}`
  }

  newRequest({ pid }: Gateway): Request {
    const id = this.newId()
    const request: Request = {
      id,
      model: `model-${this.#nextId}`,
      outcome: 'succeeded',
      costNano: BigInt(this.scheduler.random.upTo(9) * 1_000),
      pid,
      sentAt: undefined,
      ackedAt: undefined,
      mustHaveRow: false,
      mustBeOwn: false,
      mayLackBeginning: false,
    }
    this.requests.set(id, request)
    return request
  }

  /** Its first byte may go upstream. */
  onSent(request: Request, instance: string): void {
    request.sentAt = this.scheduler.now
    request.mustHaveRow = true
    if (this.settings.durability !== 'postgres') return
    const { id } = request
    if (!this.store.look(() => this.store.openRequests.has(`${instance} ${id}`) || this.store.rows.has(id)))
      this.#violate(`${id} is sent before Postgres has its beginning`)
  }

  /** Its client has the last byte. `beganAt`: when its end was written, if it was admitted. */
  onAcknowledged(request: Request, beganAt: number | undefined): void {
    const { now } = this.scheduler
    request.ackedAt = now
    request.mustBeOwn = true
    const isLate = beganAt === undefined || now - beganAt >= durableMs
    if (this.settings.durability === 'postgres' && !isLate && !this.#hasRow(request.id))
      this.#violate(`${request.id} is answered before Postgres has its row`)
  }

  onDeath(gateway: Gateway): void {
    this.#deaths++
    const { now } = this.scheduler
    gateway.diedAt = gateway.frozenUntil > now ? gateway.frozenSince : now
    this.tell(`process ${gateway.pid} dies`)
    gateway.host.disk.end(gateway)
    gateway.abandonConnections(this.scheduler.anyMs(100))
    this.#forgive(gateway, undefined)
    this.#check(() => checkRows(this.requests, this.store, this.#knownIds()))
    this.#restart(gateway)
  }

  /** It could not start. */
  onExit(gateway: Gateway): void {
    gateway.isAlive = false
    gateway.host.disk.end(gateway)
    gateway.abandonConnections(0)
    this.#restart(gateway)
  }

  /** Starts another process in the place of one that has ended. */
  #restart({ host }: Gateway): void {
    this.scheduler.after(this.scheduler.anyMs(500), undefined, () => this.#start(host))
  }

  #start(host: Host): void {
    if (this.#isEnding) return
    const gateway = new Gateway(this, host, this.#nextPid++)
    this.#gateways = [...this.#gateways.filter(({ isAlive, isEnded }) => isAlive && !isEnded), gateway]
    this.tell(`process ${gateway.pid} starts on host ${this.hosts.indexOf(host)}`)
    const { random } = this.scheduler
    gateway.isStopping = this.#isCalm
    // The first moments differ most.
    if (!this.#isCalm) gateway.stepsLeft = 1 + random.upTo(random.pick([100, 500, 2_500]))
    this.scheduler.after(0, gateway, () => void gateway.start())
  }

  /**
   * Takes back the promises that a process need not keep: it has died, and its host may have lost its power or its disk.
   */
  #forgive(gateway: Gateway, loss: 'power' | 'disk' | undefined): void {
    const { sync, durability } = this.settings
    const diedAt = gateway.diedAt ?? this.scheduler.now
    const isSynced = sync === 'disk'
    for (const request of this.requests.values()) {
      if (request.pid !== gateway.pid) continue
      const { id } = request
      const isKept = (at: number | undefined): boolean => {
        if (at === undefined) return false
        if (gateway.uncarriedSince !== undefined && at >= gateway.uncarriedSince) return false
        if (loss === 'disk') return false
        const margin = loss === 'power' ? unsyncedMs : 0
        if (gateway.isInTroubleAt(at, margin)) return false
        return loss === undefined || isSynced || at < diedAt - unsyncedMs
      }
      // What was not sent need not be whole.
      const isWhole = isSynced && gateway.troubles.length === 0 && request.sentAt !== undefined
      if (loss !== undefined && !isWhole) request.mayLackBeginning = true
      const isInPostgres = this.#hasRow(id)
      request.mustBeOwn &&= isInPostgres || isKept(request.ackedAt)
      if (durability !== 'postgres') request.mustHaveRow &&= isInPostgres || isKept(request.sentAt)
    }
  }

  #onState(instance: string, before: StoredInstance | undefined, after: StoredInstance): void {
    this.tell(`instance ${instance} is ${after.state}`)
    const owner = this.owners.get(instance)
    const isEnded = after.state === 'adopted' || (after.state === 'lost' && after.keepsOpen)
    if (owner === undefined || !isEnded || before?.state === 'lost') return
    if (after.state === 'lost') this.#forgiveLate(owner)
    if (!owner.isAlive) {
      // The journal of a lost process may be adopted later.
      if (after.state === 'adopted') this.#check(() => checkPromises(this.#requestsOf(owner), this.store))
      return
    }
    owner.uncarriedSince ??= this.scheduler.now
    // It is as if it had died: ends that its disk had not taken are known to it alone.
    if (owner.isInTroubleAt(owner.frozenSince))
      for (const request of this.#requestsOf(owner))
        if (owner.isInTroubleAt(request.ackedAt)) request.mustBeOwn = false
    if (before === undefined || this.scheduler.now - before.heartbeatAt < instanceDeadMs)
      this.#violate(`process ${owner.pid} is healthy, and is taken for dead`)
  }

  /** An answer that was sent before Postgres had its row is orphaned with its process, and its end is set aside. */
  #forgiveLate(owner: Gateway): void {
    this.#hasSecondRows = true
    for (const request of this.#requestsOf(owner))
      if (this.store.rows.get(request.id)?.outcome === 'orphaned') request.mustBeOwn = false
  }

  /** Only requests that Postgres has, or that another file has as well, may be deleted. */
  #onUnlink(disk: SimulatedDisk, path: string, bytes: Buffer): void {
    if (!path.endsWith('.log') || path.includes('set-aside')) return
    const gone = requestsIn(bytes).filter((id) => !this.#hasRow(id))
    if (gone.length === 0) return
    const elsewhere = new Set(
      [...disk.contents()].filter((other) => !other.equals(bytes)).flatMap(requestsIn),
    )
    const lost = gone.filter((id) => !elsewhere.has(id) && this.requests.get(id)?.mustHaveRow === true)
    if (lost.length > 0) this.#violate(`${path} is deleted before Postgres has ${lost}`)
  }

  *#requestsOf({ pid }: Gateway): Generator<Request> {
    for (const request of this.requests.values()) if (request.pid === pid) yield request
  }

  #knownIds(): Set<string> {
    return new Set([...this.store.rows.keys(), ...this.store.charges.keys()])
  }

  #violate(message: string): void {
    this.#violation ??= new Violation(message)
  }

  #hasRow(id: string): boolean {
    return this.store.look(() => this.store.rows.has(id))
  }

  #check(check: () => void): void {
    try {
      this.store.look(check)
    } catch (error) {
      this.#violation ??= error
    }
  }

  async #until(isOver: () => boolean, untilMs = Number.POSITIVE_INFINITY): Promise<boolean> {
    const isDone = await this.scheduler.run(() => this.#violation !== undefined || isOver(), untilMs)
    if (this.#violation !== undefined) throw this.#violation
    if (this.store.duplicates > 0 && !this.#hasSecondRows) throw new Violation('rows were shipped twice')
    return isDone
  }

  #planFaults(): void {
    const { random } = this.scheduler
    this.scheduler.after(this.scheduler.anyMs(1_200), undefined, () => {
      if (this.#isCalm) return
      const host = random.pick(this.hosts)
      this.#fail(host)
      this.#planFaults()
    })
  }

  #fail(host: Host): void {
    const { random } = this.scheduler
    const { disk, wire } = host
    const alive = this.#gateways.filter((gateway) => gateway.isAlive && gateway.host === host)
    const faults = {
      heal: () => heal(host),
      power: () => this.#lose(host, 'power'),
      disk: () => this.settings.durability === 'postgres' && this.#lose(host, 'disk'),
      kill: () => alive.length > 0 && this.scheduler.kill(random.pick(alive)),
      freeze: () => {
        if (alive.length === 0) return
        const gateway = random.pick(alive)
        if (gateway.frozenUntil > this.scheduler.now) return
        gateway.frozenSince = this.scheduler.now
        gateway.frozenUntil =
          this.scheduler.now + this.scheduler.anyMs(random.pick([1_000, 3 * instanceDeadMs]))
        this.tell(`process ${gateway.pid} is frozen until ${gateway.frozenUntil.toFixed(0)}`)
      },
      fill: () => {
        disk.isFull = true
      },
      failSyncs: () => {
        disk.failsSyncs = true
        this.#hasSecondRows = true
      },
      cut: () => {
        wire.isCut = true
      },
      lossy: () => Object.assign(wire, lossyWire),
    }
    const name = random.pick([
      ...Object.keys(faults),
      'heal',
      'heal',
      'heal',
      'kill',
    ] as (keyof typeof faults)[])
    this.tell(`host ${this.hosts.indexOf(host)}: ${name}`)
    faults[name]()
    // Otherwise nothing would be left of a world in which everything fails at once.
    this.scheduler.after(this.scheduler.anyMs(4_000), undefined, () => heal(host))
  }

  #lose(host: Host, what: 'power' | 'disk'): void {
    const noticesInMs = this.scheduler.anyMs(5_000)
    for (const gateway of this.#gateways) {
      if (gateway.host !== host || !gateway.isAlive || gateway.isEnded) continue
      this.scheduler.kill(gateway)
      gateway.abandonConnections(noticesInMs)
    }
    if (what === 'power') host.disk.losePower()
    else host.disk.lose()
    for (const gateway of new Set(this.owners.values()))
      if (gateway.host === host) this.#forgive(gateway, what)
  }

  #calm(): void {
    this.#isCalm = true
    this.tell('all faults end')
    for (const host of this.hosts) heal(host)
    for (const gateway of this.#gateways) {
      gateway.stepsLeft = Number.POSITIVE_INFINITY
      gateway.isStopping = true
    }
  }

  /** Everything must be shipped or adopted. Then all processes end, and nothing must be left. */
  async #comeToRest(): Promise<void> {
    const by = this.scheduler.now + restMs
    const isServing = () => this.#gateways.filter(({ isAlive, isEnded }) => isAlive && !isEnded)
    let lookAt = 0
    const isQuiet = () => {
      if (this.scheduler.now < lookAt) return false
      lookAt = this.scheduler.now + 50
      const isIdle = ({ ledger, running }: Gateway) => running === 0 && ledger?.health().journalBytes === 0
      return isServing().every(isIdle) && this.#unfinished().length === 0
    }
    if (!(await this.#until(isQuiet, by))) throw new Violation(`it does not come to rest: ${this.#unrest()}`)
    this.#isEnding = true
    for (const gateway of isServing()) this.scheduler.after(0, gateway, () => void gateway.end())
    if (!(await this.#until(() => isServing().length === 0, by + restMs)))
      throw new Violation(`a process does not end: ${this.#unrest()}`)
  }

  /** The instances of which something is still to be done. */
  #unfinished(): string[] {
    return [...this.store.instances].flatMap(([instance, { state, keepsOpen }]) => {
      const owner = this.owners.get(instance)
      const isServing = state === 'live' && owner?.isAlive === true && owner.ledger?.instance.id === instance
      // If its disk is gone, there is nothing to adopt.
      const isThere = owner?.host.disk.existsSync(`${journals}/${instance}`) === true
      const isEnded =
        state === 'closed' ||
        state === 'adopted' ||
        (owner?.isAlive === false && !isThere && (state === 'lost' || !keepsOpen))
      return isServing || isEnded ? [] : [`${instance} of process ${owner?.pid} is ${state}`]
    })
  }

  #unrest(): string {
    const processes = this.#gateways.map(({ pid, ledger, running }) =>
      JSON.stringify({ pid, running, ...ledger?.health(), adoption: ledger?.adoption }),
    )
    return [...this.#unfinished(), ...processes].join('\n')
  }
}

const goodWire: Wire = { isCut: false, losesBefore: 0, losesAfter: 0, delays: 0, delayMsMax: 4_000 }
const lossyWire: Wire = { isCut: false, losesBefore: 0.05, losesAfter: 0.1, delays: 0.05, delayMsMax: 8_000 }

function heal({ disk, wire }: Host): void {
  disk.isFull = false
  disk.failsSyncs = false
  Object.assign(wire, goodWire)
}

function settingsBy(random: Random) {
  const bounds: LedgerOptions['bounds'] = {
    durableMs,
    journalSegmentBytes: random.pick([1, 3_000, 20_000]),
    journalBytesMax: 2 ** 30,
    journalAlarmBytes: 2 ** 29,
    journalKeepMs: random.pick([0, 5_000]),
    journalKeepBytesMax: random.pick([0, 10_000]),
    shipIntervalMs: random.pick([100, 500, 2_000]),
    shipBatchBytes: random.pick([1_000, 8_000]),
    shipOnQueryMs: 1_000,
    admitMs: 2_000,
    instanceDeadMs,
    upstreamTotalMs: 20_000,
    unauthenticatedRowsPerMinute: 100,
  }
  return {
    durability: random.pick(['journal', 'postgres'] as const),
    sync: random.pick(['process', 'disk'] as const),
    bounds,
    burstMax: random.pick([0, 2, 6]),
    pauseMsMax: random.pick([200, 1_000]),
    longestMs: random.pick([1_000, 8_000]),
  }
}
