import { isDeepStrictEqual } from 'node:util'
import type { Catalog } from '../catalog/catalog.ts'
import type { ListedModel, ModelLists } from '../catalog/listed-models.ts'
import type { Channel } from '../catalog/snapshot.ts'
import type { Log } from '../telemetry/log.ts'
import type { Upstreams } from '../upstream/upstreams.ts'
import { askList, type ListBounds } from './ask-list.ts'

export interface FollowBounds extends ListBounds {
  /** 0: no list is read. */
  modelListRefreshMs: number
}

interface Needs {
  catalog: Pick<Catalog, 'snapshot'>
  upstreams: Pick<Upstreams, 'call'>
  bounds: FollowBounds
  log: Log
  /** From 0 to 1. Default: `Math.random`. */
  chance?: () => number
}

/** What is known of one channel's list. */
interface Followed {
  /** The settings that the list was asked with: others ask again at once. */
  settings: string
  /** By `performance.now`. */
  nextAt: number
  turn: number
  isAsked: boolean
  complaint: string
}

/** How often we look whether a list is due, or a channel is new. */
const tickMs = 1_000
/**
 * A list that cannot be read is tried again after this time, or the time between two reads where that is
 * less.
 */
const retryMs = 60_000
const asksAtOnce = 4

/**
 * Keeps the upstreams' own lists of the channels that pass any name through. Each process reads them for
 * itself, between requests and never for one: it costs an upstream a small call every ten minutes, and needs
 * no agreement between processes. While a list cannot be read, the last one stays.
 */
export class FollowedLists {
  /** The lists as they are now. */
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

  /** Ask for the lists that are due, and forget those of channels that are gone. */
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
      // The others are asked at one of the next looks.
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
    // Processes that started together do not ask together.
    followed.nextAt = performance.now() + waitMs * (0.9 + 0.2 * chance())
    followed.isAsked = false
    this.#running--
  }

  /** One line for each reason in a row. */
  #complain(log: Log, { name }: Channel, followed: Followed, error: unknown): void {
    const cause = error instanceof Error ? error.message : String(error)
    if (this.#stopped || cause === followed.complaint) return
    followed.complaint = cause
    log.info(
      { channel: name, cause },
      'the models of a channel cannot be listed; what was known of them stays',
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

/** Changes with where the list comes from. Channels of each snapshot are other objects. */
function settingsOf({ protocols, credentials, connection, allowPrivateAddress }: Channel): string {
  return JSON.stringify([
    protocols,
    credentials,
    connection?.poolName,
    connection?.headers,
    allowPrivateAddress,
  ])
}
