import { isDeepStrictEqual } from 'node:util'
import type { Catalog } from '../../catalog/catalog.ts'
import type { ListedModel, ModelLists } from '../../catalog/listed-models.ts'
import type { Channel } from '../../catalog/snapshot.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Upstreams } from '../upstreams.ts'
import { askList, type ListBounds } from './ask-list.ts'

export interface FollowBounds extends ListBounds {
  /** With 0, no lists are read. */
  modelListRefreshMs: number
}

interface Needs {
  catalog: Pick<Catalog, 'snapshot'>
  upstreams: Pick<Upstreams, 'call'>
  bounds: FollowBounds
  log: Log
  /** Returns a number from 0 to 1. The default is `Math.random`. */
  chance?: () => number
}

/** What is known about one channel's list. */
interface Followed {
  /** The settings with which the list was requested. It is requested again when they change. */
  settings: string
  /** In terms of `performance.now`. */
  nextAt: number
  turn: number
  isAsked: boolean
  complaint: string
}

/** How often to check whether a list is due or a channel is new. */
const tickMs = 1_000
/**
 * How long to wait before a list that cannot be read is tried again, unless the interval between reads is
 * shorter.
 */
const retryMs = 60_000
const asksAtOnce = 4

/**
 * Keeps the upstreams' own lists for the channels that pass any name through. Each process reads them
 * separately and never during a request. This costs an upstream one small call every ten minutes and needs no
 * coordination between processes. While a list cannot be read, the last one is kept.
 */
export class FollowedLists {
  /** The current lists. */
  lists: ModelLists = new Map()
  readonly #needs: Needs
  readonly #followed = new Map<string, Followed>()
  readonly #timer: NodeJS.Timeout | undefined
  #running = 0
  #stopped = false

  constructor(needs: Needs) {
    this.#needs = needs
    if (needs.bounds.modelListRefreshMs === 0) return
    this.#timer = setInterval(() => this.look(), Math.min(tickMs, needs.bounds.modelListRefreshMs)).unref()
    this.look()
  }

  stop(): void {
    this.#stopped = true
    clearInterval(this.#timer)
  }

  /** Requests the lists that are due, and forgets those of channels that no longer exist. */
  look(): void {
    const { snapshot } = this.#needs.catalog
    const passing = (snapshot.anyModel?.offers ?? []).filter((offer) => offer.upstreamModel === '*')
    const channels = new Map(passing.map(({ channel }) => [channel.id, channel]))
    for (const id of [...this.#followed.keys()].filter((known) => !channels.has(known))) {
      this.#followed.delete(id)
      this.#set(id, undefined)
    }
    const now = performance.now()
    for (const channel of channels.values()) {
      const settings = settingsOf(channel)
      const followed = this.#followed.get(channel.id) ?? unasked()
      this.#followed.set(channel.id, followed)
      if (followed.isAsked || (followed.settings === settings && followed.nextAt > now)) continue
      // The others are requested in one of the next rounds.
      if (this.#running >= asksAtOnce) return
      followed.settings = settings
      void this.#ask(channel, followed)
    }
  }

  async #ask(channel: Channel, followed: Followed): Promise<void> {
    const { upstreams, bounds, log, chance = Math.random } = this.#needs
    followed.isAsked = true
    this.#running++
    let waitMs = bounds.modelListRefreshMs
    try {
      const { models } = await askList(upstreams, bounds, channel, { turn: followed.turn })
      followed.complaint = ''
      if (this.#followed.get(channel.id) === followed) this.#set(channel.id, models)
    } catch (error) {
      followed.turn++
      waitMs = Math.min(waitMs, retryMs)
      this.#complain(log, channel, followed, error)
    }
    // Spreads the requests of processes that started together.
    followed.nextAt = performance.now() + waitMs * (0.9 + 0.2 * chance())
    followed.isAsked = false
    this.#running--
  }

  /** Logs one line for each new reason. */
  #complain(log: Log, { name }: Channel, followed: Followed, error: unknown): void {
    const cause = error instanceof Error ? error.message : String(error)
    if (this.#stopped || cause === followed.complaint) return
    followed.complaint = cause
    log.info(
      { channel: name, cause },
      'the models of a channel cannot be listed; the last known list is kept',
    )
  }

  #set(channelId: string, list: ReadonlyMap<string, ListedModel> | undefined): void {
    if (isDeepStrictEqual(this.lists.get(channelId), list)) return
    const next = new Map(this.lists)
    if (list === undefined) next.delete(channelId)
    else next.set(channelId, list)
    this.lists = next
  }
}

function unasked(): Followed {
  return { settings: '', nextAt: 0, turn: 0, isAsked: false, complaint: '' }
}

/** Changes when the source of the list changes. The channels in each snapshot are different objects. */
function settingsOf({ protocols, credentials, connection, allowPrivateAddress }: Channel): string {
  return JSON.stringify([
    protocols,
    credentials,
    connection?.poolName,
    connection?.headers,
    allowPrivateAddress,
  ])
}
