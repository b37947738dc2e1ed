import { isDeepStrictEqual } from 'node:util'

/** The names of the rows of one kind that applying a gateway.yaml has changed. */
export interface ChangedNames {
  /** New, or disabled before. */
  added: string[]
  changed: string[]
  /** Disabled or deleted, because the file leaves them out. */
  removed: string[]
  /** Those among them that an admin had made: from now on the file manages them. */
  taken_over: string[]
}

/** How many they are. */
export type Changes = Record<Exclude<keyof ChangedNames, 'taken_over'>, number>

export const fileKinds = ['models', 'channels', 'groups', 'tenants', 'keys'] as const
export type FileKind = (typeof fileKinds)[number]

/** What applying a gateway.yaml has done, by kind. */
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

/** For the audit log: the kinds of which a row has changed, with the first 100 names of each. */
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

/** The kinds of which a row has changed. */
export function changedKinds(changes: FileChanges): Partial<FileChanges> {
  return Object.fromEntries(
    Object.entries(changes).filter(([, { added, changed, removed }]) => added + changed + removed > 0),
  )
}

/** Rows have changed since a plan was shown. Nothing is written. */
export class PlanChangedError extends Error {}

/** For whom rows are written, and how. */
export interface Writing {
  managedBy: 'file' | 'admin'
  /** Rows that exist stay as they are. */
  keepsExisting: boolean
  /** Names of channels that are written as disabled. */
  disabledChannels: ReadonlySet<string>
  /** Called for every row that is wanted. `members`: what changes; empty for a new row. */
  report(kind: FileKind, name: string, action: 'create' | 'change' | 'skip', members: readonly string[]): void
}

/** gateway.yaml, which replaces what an earlier one wrote. */
export const byFile: Writing = {
  managedBy: 'file',
  keepsExisting: false,
  disabledChannels: new Set(),
  report() {},
}

/** The members of a wanted row that are others than in the row that exists; empty where none exists. */
export function differences<T extends object>(existing: T | undefined, wanted: Partial<T>): string[] {
  if (existing === undefined) return []
  const before = new Map<string, unknown>(Object.entries(existing))
  return Object.entries(wanted)
    .filter(([name, value]) => !before.has(name) || !isDeepStrictEqual(before.get(name), value))
    .map(([name]) => name)
}
