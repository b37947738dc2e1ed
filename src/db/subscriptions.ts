import postgres from 'postgres'
import { inTime } from '../in-time.ts'
import { type ConnectionOptions, clientSettings } from './connections.ts'

/** Whoever hears the notifications of a channel. */
export interface Listener {
  /** Called with the payload of every notification. */
  onNotify(payload: string): void
  /**
   * Called whenever the subscription begins, again after every outage: notifications of the time between are lost, so
   * read the state anew here.
   */
  onListening?(): void
  /** Called when it cannot begin, once for each outage. It is tried again. */
  onRefused?(error: unknown): void
}

/** LISTEN, on one connection for all channels. A subscription lasts until it is ended, through every outage. */
export class Subscriptions {
  readonly #open: () => postgres.Sql
  readonly #subscriptions = new Set<Subscription>()
  #client: postgres.Sql
  #retry: NodeJS.Timeout | undefined
  #closed = false

  constructor(url: string, options: ConnectionOptions) {
    // postgres.js listens on a connection beside those of the client.
    this.#open = () => postgres(url, clientSettings({ ...options, max: 1 }))
    this.#client = this.#open()
  }

  /** Never rejects. Answers the function that ends it, which does not reject either. */
  listen(channel: string, listener: Listener): () => Promise<void> {
    const subscription: Subscription = {
      channel,
      listener,
      refused: false,
      unlisten: async () => {},
    }
    this.#subscriptions.add(subscription)
    this.#begin(subscription)
    return async () => {
      this.#subscriptions.delete(subscription)
      // With the connection gone there is nothing to unsubscribe from.
      await inTime(subscription.unlisten(), endMs, 'the database').catch(() => {})
    }
  }

  /** Listen on a new connection: the present one may be dead without anybody noticing. */
  renew(): void {
    clearTimeout(this.#retry)
    this.#retry = undefined
    if (this.#closed || this.#subscriptions.size === 0) return
    void this.#client.end({ timeout: 0 }).catch(() => {})
    this.#client = this.#open()
    for (const subscription of this.#subscriptions) this.#begin(subscription)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#retry)
    this.#subscriptions.clear()
    await inTime(this.#client.end({ timeout: 0 }), endMs, 'the database').catch(() => {})
  }

  #begin(subscription: Subscription): void {
    const { channel, listener } = subscription
    const client = this.#client
    const isWanted = () => client === this.#client && this.#subscriptions.has(subscription)
    const listening = client.listen(
      channel,
      (payload) => {
        if (isWanted()) listener.onNotify(payload)
      },
      () => {
        subscription.refused = false
        if (isWanted()) listener.onListening?.()
      },
    )
    subscription.unlisten = () => listening.then(({ unlisten }) => unlisten())
    listening.catch((error: unknown) => {
      if (!isWanted()) return
      if (!subscription.refused) listener.onRefused?.(error)
      subscription.refused = true
      // On a new client: this one goes on to try what it has refused, and would then tell everything twice.
      this.#retry ??= setTimeout(() => this.renew(), retryMs).unref()
    })
  }
}

const retryMs = 500
const endMs = 500

interface Subscription {
  channel: string
  listener: Listener
  refused: boolean
  unlisten(): Promise<void>
}
