import { isDeepStrictEqual } from 'node:util'

/** The names of the rows of one kind that were changed by applying a gateway.yaml. */
export interface ChangedNames {
  /** New, or previously disabled. */
  added: string[]
  changed: string[]
  /** Disabled or deleted, because they are missing from the file. */
  removed: string[]
  /** The subset that an admin created, which the file manages from now on. */
  taken_over: string[]
}

/** The number of names in each list. */
export type Changes = Record<Exclude<keyof ChangedNames, 'taken_over'>, number>

export const fileKinds = ['models', 'channels', 'groups', 'tenants', 'keys'] as const
export type FileKind = (typeof fileKinds)[number]

/** The result of applying a gateway.yaml, by kind. */
export type FileChanges = Record<FileKind, Changes>
export type FileNames = Record<FileKind, ChangedNames>

export const noChanges = (): ChangedNames => ({
  added: [],
  changed: [],
  removed: [],
  taken_over: [],
})

export function changedCounts({ models, channels, groups, tenants, keys }: FileNames): FileChanges {
  const count = ({ added, changed, removed }: ChangedNames) => ({
    added: added.length,
    changed: changed.length,
    removed: removed.length,
  })
  return {
    models: count(models),
    channels: count(channels),
    groups: count(groups),
    tenants: count(tenants),
    keys: count(keys),
  }
}

const shownMax = 100

/** For the audit log: the kinds with changes, with the first 100 names in each list. */
export function shownNames(names: FileNames): Record<string, Record<string, string[] | number>> {
  return Object.fromEntries(
    Object.entries(names).flatMap(([kind, changed]) => {
      const lists = Object.entries(changed).filter(([, list]) => list.length > 0)
      const shown = lists.flatMap(([what, list]): [string, string[] | number][] =>
        list.length <= shownMax
          ? [[what, list]]
          : [
              [what, list.slice(0, shownMax)],
              [`${what}_count`, list.length],
            ],
      )
      return lists.length === 0 ? [] : [[kind, Object.fromEntries(shown)]]
    }),
  )
}

/** The kinds with changed rows. */
export function changedKinds(changes: FileChanges): Partial<FileChanges> {
  return Object.fromEntries(
    Object.entries(changes).filter(([, { added, changed, removed }]) => added + changed + removed > 0),
  )
}

/** Thrown, with nothing written, if rows have changed since a plan was shown. */
export class PlanChangedError extends Error {}

/** Determines on whose behalf rows are written, and how. */
export interface Writing {
  managedBy: 'file' | 'admin'
  /** Leaves existing rows unchanged. */
  keepsExisting: boolean
  /** The names of channels to write as disabled. */
  disabledChannels: ReadonlySet<string>
  /** Whether channels call only addresses that the admin API may set. */
  isAddressBounded?: boolean
  /**
   * Called for every requested row. `members` are the changed columns of `existing`; they are empty for a new
   * row.
   */
  report(
    kind: FileKind,
    name: string,
    action: 'create' | 'change' | 'skip',
    members: readonly string[],
    existing?: object,
  ): void
}

/** Writing for a gateway.yaml, which replaces what an earlier one wrote. */
export const byFile: Writing = {
  managedBy: 'file',
  keepsExisting: false,
  disabledChannels: new Set(),
  report() {},
}

/** Returns the columns that differ from the existing row; empty if there is none. */
export function differences<T extends object>(existing: T | undefined, wanted: Partial<T>): string[] {
  if (existing === undefined) return []
  const before = new Map<string, unknown>(Object.entries(existing))
  return Object.entries(wanted)
    .filter(([name, value]) => !before.has(name) || !isDeepStrictEqual(before.get(name), value))
    .map(([name]) => name)
}
