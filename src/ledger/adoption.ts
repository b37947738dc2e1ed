/** The journals of dead processes that this process adopts, or cannot adopt. */
export interface Adoption {
  /** The process whose journal is being adopted; undefined: none. */
  current: string | undefined
  /** Journals that cannot be adopted now, and why. */
  failed: readonly { instance: string; reason: string }[]
}

export const noAdoption: Adoption = { current: undefined, failed: [] }
