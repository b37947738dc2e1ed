import { journalDirectory } from '../journal/journal-directory.ts'
import { Adopter, markShipped } from './adopter.ts'
import { AnswerShipment } from './answer-shipment.ts'
import { heartbeatMsMax, type Registrant } from './instances.ts'
import { ShipCalls } from './ship-calls.ts'
import { Shipment, type Unshipped } from './shipment.ts'
import type { ShipperConnection } from './shipper-connection.ts'
import type { ShipperThread } from './shipper-thread.ts'
import type { Predecessor } from './succession.ts'

/** A process is called to ship while its last heartbeat is younger than this. */
const calledMs = 3 * heartbeatMsMax

/**
 * What the shipper does under one id of its process. If another process takes this one for dead, all of it
 * is replaced.
 */
export class ShipperIdentity {
  readonly #thread: ShipperThread
  readonly registrant: Registrant
  readonly directory: string
  readonly own: Shipment
  readonly answers: AnswerShipment
  readonly adopter: Adopter
  readonly calls: ShipCalls
  /** The former id of this process, until its whole journal is in Postgres. */
  predecessor: Predecessor | undefined

  constructor(thread: ShipperThread, instanceId: string, predecessor?: Predecessor) {
    const { data, disk, clock, log, post, onCall } = thread
    this.#thread = thread
    this.predecessor = predecessor
    this.registrant = { ...data, instanceId }
    this.directory = journalDirectory(data.root, instanceId)
    const options = { ...data, instanceId, directory: this.directory, growing: true, disk, clock, log }
    this.own = new Shipment({ ...options, keepsOpen: data.durability === 'postgres' })
    this.answers = new AnswerShipment(options)
    this.adopter = new Adopter({
      ...options,
      onAdopted: (instance, orphans) => post({ type: 'adopted', instance, orphans }),
      onChange: (adoption) => post({ type: 'adoption', adoption }),
    })
    this.calls = new ShipCalls({
      instanceId,
      waitMs: data.onQueryMs,
      deadMs: calledMs,
      clock,
      onCall,
      onShipped: (tokens) => {
        for (const token of tokens) post({ type: 'shipped', token })
      },
    })
  }

  /** Must be called when the new journal contains all frames that were carried over from this one. */
  noteCarried(instanceId: string): void {
    if (this.predecessor?.instanceId === instanceId) this.predecessor.isCarried = true
  }

  /** Must be called when nothing more is written or shipped. */
  async finish(client: ShipperConnection['client']): Promise<void> {
    const { own, answers, directory } = this
    own.close()
    // Another process will adopt the journal.
    if (own.openCount > 0 || own.isBefore(own.end()) || answers.hasMore) return this.reportUnshipped()
    await own.finish(client)
    // A process that starts later will delete this directory.
    const { data, disk } = this.#thread
    if (data.keepMs > 0) markShipped(directory, disk)
    else disk.rmSync(directory, { recursive: true, force: true })
  }

  /** Logs what stays in the journal. Nothing can be shipped after this call. */
  reportUnshipped(): void {
    const { own, directory } = this
    own.close()
    const unshipped = unshippedOf(own)
    if ('rows' in unshipped && unshipped.rows + unshipped.running === 0) return
    this.#thread.log.error(
      { directory, ...unshipped },
      'Postgres does not have all rows of this process: they stay in its journal, and the next process that finds it ships them',
    )
  }
}

/** The directory may have been deleted. */
function unshippedOf(own: Shipment): Unshipped | { error: string } {
  try {
    return own.unshipped()
  } catch (error) {
    return { error: String(error) }
  }
}
