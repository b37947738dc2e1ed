/** What applying a gateway.yaml has done to the rows of one kind. */
export interface Changes {
  /** New, or disabled before. */
  added: number
  changed: number
  /** Disabled or deleted, because the file leaves them out. */
  removed: number
}

/** What applying a gateway.yaml has done, by kind. */
export type FileChanges = Record<'models' | 'channels' | 'groups' | 'tenants' | 'keys', Changes>

export const noChanges = (): Changes => ({ added: 0, changed: 0, removed: 0 })

/** The kinds of which a row has changed. */
export function changedKinds(changes: FileChanges): Partial<FileChanges> {
  return Object.fromEntries(
    Object.entries(changes).filter(([, { added, changed, removed }]) => added + changed + removed > 0),
  )
}
