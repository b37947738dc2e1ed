import { isDeepStrictEqual } from 'node:util'

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

export type RowKind = keyof FileChanges

/** For whom rows are written, and how. */
export interface Writing {
  managedBy: 'file' | 'admin'
  /** Rows that exist stay as they are. */
  keepsExisting: boolean
  /** Names of channels that are written as disabled. */
  disabledChannels: ReadonlySet<string>
  /** Called for every row that is wanted. `members`: what changes; empty for a new row. */
  told(kind: RowKind, name: string, action: 'create' | 'change' | 'skip', members: readonly string[]): void
}

/** gateway.yaml, which replaces what an earlier one wrote. */
export const byFile: Writing = {
  managedBy: 'file',
  keepsExisting: false,
  disabledChannels: new Set(),
  told() {},
}

/** The members of a wanted row that are others than in the row that exists; empty where none exists. */
export function differences<T extends object>(existing: T | undefined, wanted: Partial<T>): string[] {
  if (existing === undefined) return []
  const before = new Map<string, unknown>(Object.entries(existing))
  return Object.entries(wanted)
    .filter(([name, value]) => !before.has(name) || !isDeepStrictEqual(before.get(name), value))
    .map(([name]) => name)
}
