/** The journals of dead processes that this process is adopting or cannot adopt. */
export interface Adoption {
  /** The process whose journal is being adopted; undefined if there is none. */
  current: string | undefined
  /** The journals that cannot be adopted at the moment, and why. */
  failed: readonly { instance: string; reason: string }[]
}

export const noAdoption: Adoption = { current: undefined, failed: [] }
