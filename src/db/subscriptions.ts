import postgres from 'postgres'
import { inTime } from '../runtime/in-time.ts'
import { type ConnectionOptions, clientSettings } from './connections.ts'

/** A listener of a channel's notifications. */
export interface NotificationListener {
  /** Called with the payload of every notification. */
  onNotify(payload: string): void
  /**
   * Called whenever the subscription begins, including after an outage. Notifications during the outage are
   * lost, so the listener must read the state again.
   */
  onListening?(): void
  /** Called when the subscription cannot begin, once per outage. It is retried. */
  onRefused?(error: unknown): void
}

/** LISTEN, with one connection for all channels. A subscription survives outages until its caller ends it. */
export class Subscriptions {
  readonly #open: () => postgres.Sql
  readonly #subscriptions = new Set<Subscription>()
  #client: postgres.Sql
  #retry: NodeJS.Timeout | undefined
  #closed = false

  constructor(url: string, options: ConnectionOptions) {
    // postgres.js opens a separate connection for LISTEN, in addition to those of the client.
    this.#open = () => postgres(url, clientSettings({ ...options, max: 1 }))
    this.#client = this.#open()
  }

  /** Returns a function that ends the subscription and never rejects. */
  listen(channel: string, listener: NotificationListener): () => Promise<void> {
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
      // Without the connection, there is nothing to unsubscribe from.
      await inTime(subscription.unlisten(), endMs, 'the database').catch(() => {})
    }
  }

  /** Listens on a new connection, because the current one may be dead although it looks alive. */
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
    // postgres.js keeps retrying. The subscriptions of a rejected client end with it when it is replaced.
    let isRefused = false
    const isWanted = () => !isRefused && client === this.#client && this.#subscriptions.has(subscription)
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
      isRefused = true
      if (!subscription.refused) listener.onRefused?.(error)
      subscription.refused = true
      // Retry with a new client, because this one would deliver each notification twice.
      this.#retry ??= setTimeout(() => this.renew(), retryMs).unref()
    })
  }
}

const retryMs = 500
const endMs = 500

interface Subscription {
  channel: string
  listener: NotificationListener
  refused: boolean
  unlisten(): Promise<void>
}
