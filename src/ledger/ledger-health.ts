/** The state of the journal, for the operator. */
export interface LedgerHealth {
  journalBytes: number
  /** The reason why Postgres cannot be reached; undefined: it answers. */
  postgresAway: string | undefined
  /** The reason why the journal cannot be written; undefined: it can. */
  trouble: string | undefined
  /** With DURABILITY=postgres: answers that were sent after `durableMs`, before Postgres had their rows. */
  lateCommits: number
}
