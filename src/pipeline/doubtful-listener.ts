import type { GatewayError } from '../canonical/error.ts'
import type { Ledger } from '../shipping/ledger.ts'
import type { Listener, ResponseHeaders, UpstreamCall } from '../upstream/upstreams.ts'
import type { Admitted } from './admit.ts'

/**
 * Holds back the events of an upstream while this process may have been taken for dead. Another process may
 * then have recorded the request as orphaned, in which case its client must see only an error.
 */
export class DoubtfulListener implements Listener {
  readonly #ledger: Pick<Ledger, 'doubtOf'>
  readonly #admitted: Pick<Admitted, 'id' | 'life'>
  readonly #next: Listener
  /** Undefined when there is no doubt. */
  #held: (() => void)[] | undefined

  constructor(ledger: Pick<Ledger, 'doubtOf'>, admitted: Pick<Admitted, 'id' | 'life'>, next: Listener) {
    this.#ledger = ledger
    this.#admitted = admitted
    this.#next = next
  }

  isWanted(): boolean {
    return this.#admitted.life.cut === undefined && this.#next.isWanted?.() !== false
  }

  start(call: UpstreamCall, status: number, headers: ResponseHeaders): void {
    if (this.#isHeld(call)) this.#hold(() => this.#next.start(call, status, headers))
    else this.#next.start(call, status, headers)
  }

  data(call: UpstreamCall, chunk: Buffer): void {
    if (this.#isHeld(call)) this.#hold(() => this.#next.data(call, chunk))
    else this.#next.data(call, chunk)
  }

  end(): void {
    if (this.#isHeld()) this.#hold(() => this.#next.end())
    else this.#next.end()
  }

  fail(error: GatewayError, sent: boolean): void {
    if (this.#admitted.life.cut === undefined && this.#isHeld())
      this.#hold(() => this.#next.fail(error, sent))
    else {
      this.#held = undefined
      this.#next.fail(this.#admitted.life.cut ?? error, sent)
    }
  }

  #isHeld(call?: UpstreamCall): boolean {
    if (this.#held !== undefined) return true
    const doubt = this.#ledger.doubtOf(this.#admitted.id)
    if (doubt === undefined) return false
    this.#held = []
    call?.pause()
    void doubt.then(() => this.#release(call))
    return true
  }

  #hold(event: () => void): void {
    this.#held?.push(event)
  }

  #release(call: UpstreamCall | undefined): void {
    const held = this.#held
    // The call was aborted in the meantime, and its listener was notified.
    if (held === undefined) return
    this.#held = undefined
    const { cut } = this.#admitted.life
    if (cut !== undefined) {
      // The call ended before it could be aborted.
      this.#next.fail(cut, true)
      return
    }
    for (const event of held) event()
    call?.resume()
  }
}
