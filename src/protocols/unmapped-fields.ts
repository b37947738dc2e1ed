import type { UnmappedField } from '../canonical/chat.ts'

/**
 * Collects the members of a request that no other format supports, each with how a translation handles it.
 */
export class UnmappedFields {
  readonly list: UnmappedField[] = []

  drop(path: string, reason: string): void {
    this.list.push({ path, verdict: 'drop', reason })
  }

  refuse(path: string, reason: string, refusal?: UnmappedField['refusal']): void {
    this.list.push({ path, verdict: 'refuse', reason, ...(refusal === undefined ? {} : { refusal }) })
  }

  /** The request is fulfilled in another way. */
  map(path: string, reason: string): void {
    this.list.push({ path, verdict: 'map', reason })
  }
}
