import type { JsonValues } from './json-values.ts'

/**
 * Cells of the table that aligns two lists. Of longer lists only the heads and tails that are equal are
 * found.
 */
const cellsMax = 250_000

/** Places of the longest row of equal items in both. */
export function equalItems(
  before: readonly unknown[],
  after: readonly unknown[],
  values: JsonValues,
): [number, number][] {
  const [a, b] = [before.map((item) => values.idOf(item)), after.map((item) => values.idOf(item))]
  const shorter = Math.min(a.length, b.length)
  let head = 0
  while (head < shorter && a[head] === b[head]) head++
  let tail = 0
  while (tail < shorter - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  const found: [number, number][] = Array.from({ length: head }, (_, at) => [at, at])
  const [rows, columns] = [a.length - head - tail, b.length - head - tail]
  if (rows * columns <= cellsMax) {
    const width = columns + 1
    const longest = new Uint32Array((rows + 1) * width)
    const at = (row: number, column: number) => longest[row * width + column] ?? 0
    const isEqual = (row: number, column: number) => a[head + row] === b[head + column]
    for (let row = rows - 1; row >= 0; row--)
      for (let column = columns - 1; column >= 0; column--)
        longest[row * width + column] = isEqual(row, column)
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1))
    for (let row = 0, column = 0; row < rows && column < columns; ) {
      if (isEqual(row, column)) found.push([head + row++, head + column++])
      else if (at(row + 1, column) >= at(row, column + 1)) row++
      else column++
    }
  }
  for (let at = tail; at > 0; at--) found.push([a.length - at, b.length - at])
  return found
}
