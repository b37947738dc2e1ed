/** Columns of a tuple, or of a half, by name; null where they are null. They begin at `at`, behind a tuple's number. */
export function columnsIn(
  bytes: Buffer,
  at: number,
  names: readonly string[],
): Record<string, Buffer | null> {
  let next = at
  return Object.fromEntries(
    names.map((name) => {
      const length = bytes.readInt32BE(next)
      const from = next + 4
      next = from + Math.max(0, length)
      return [name, length < 0 ? null : bytes.subarray(from, next)]
    }),
  )
}
