/** The columns of a tuple, or of a half of it, by name. They begin at `at`, after the number of columns. */
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
