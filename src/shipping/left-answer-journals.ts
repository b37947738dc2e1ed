import { join } from 'node:path'
import type { FoundJournal } from '../journal/journal-directory.ts'
import { systemDisk } from '../runtime/disk.ts'
import { AnswerShipment, type AnswerShipmentOptions } from './answer-shipment.ts'

type LeftAnswersOptions = Pick<AnswerShipmentOptions, 'batchBytes' | 'disk' | 'clock' | 'log'>
type Client = Parameters<AnswerShipment['ship']>[0]

/** How long answers are shipped at a time: at least one batch. Rows have priority. */
const shipMs = 200
/** Answers that Postgres has refused for this long are deleted with their journal. */
const leftMs = 24 * 60 * 60_000

/**
 * The captured answers of adopted journals that Postgres refused while the rows were shipped. The adoption
 * does not wait for them: the journal stays on disk, and shipping its answers is retried.
 */
export class LeftAnswers {
  readonly #shipments = new Map<string, AnswerShipment>()
  readonly #options: LeftAnswersOptions

  constructor(options: LeftAnswersOptions) {
    this.#options = options
  }

  /** Takes over what an adoption has left. */
  take({ instance }: FoundJournal, shipment: AnswerShipment): void {
    if (shipment.hasMore) this.#shipments.set(instance, shipment)
  }

  /**
   * Ships some of the answers of a journal whose rows are in Postgres. Returns true if none are left or their
   * time is over, counted from the file `mark`. Rejects if the connection is lost.
   */
  async ship(client: Client, { instance, directory }: FoundJournal, mark: string): Promise<boolean> {
    const { clock, disk = systemDisk } = this.#options
    const shipment =
      this.#shipments.get(instance) ?? new AnswerShipment({ ...this.#options, directory, growing: false })
    if (shipment.hasMore) {
      this.#shipments.set(instance, shipment)
      await shipment.ship(client, clock.elapsed() + shipMs)
    }
    if (!shipment.hasMore) {
      this.#shipments.delete(instance)
      return true
    }
    const since = disk.statSync(join(directory, mark), { throwIfNoEntry: false })?.mtimeMs ?? clock.now()
    if (clock.now() - since < leftMs) return false
    this.#options.log.error(
      { directory },
      'Postgres has refused captured answers for a day: they are deleted with their journal',
    )
    return true
  }

  /** Forgets journals that no longer exist. */
  forget(isThere: (instance: string) => boolean): void {
    for (const instance of this.#shipments.keys()) if (!isThere(instance)) this.#shipments.delete(instance)
  }
}
