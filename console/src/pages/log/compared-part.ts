/**
 * A member of the first body, of the second, or of both. A path is that of the first body, but for what the
 * second one alone has.
 */
export type Part = { name: string; path: string } & (
  | { kind: 'same'; value: unknown; members: number }
  | { kind: 'added'; value: unknown; moved: readonly Move[] }
  | { kind: 'removed'; value: unknown; moved: readonly Move[] }
  | { kind: 'changed'; before: unknown; after: unknown }
  /** Both have it, and parts of it differ. */
  | { kind: 'inside'; parts: readonly Part[] }
)

/**
 * A value, or one inside of a value, that was at `from` in the first body and is at `to` in the second.
 */
export interface Move {
  from: string
  to: string
}
