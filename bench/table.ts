/** A table in columns; `isFigure` says which of them are flush right. */
export function tableOf(rows: readonly (readonly string[])[], isFigure: (column: number) => boolean): string {
  const widthOf = (column: number) => Math.max(...rows.map((row) => (row[column] ?? '').length))
  const widths = rows[0]?.map((_, column) => widthOf(column)) ?? []
  const write = (cell: string, column: number) =>
    isFigure(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)
  return rows.map((row) => row.map(write).join('  ').trimEnd()).join('\n')
}

/** The scenarios with these names; all of them if there are no names. Throws for an unknown name. */
export function chosenOf<S extends { name: string }>(scenarios: readonly S[], names: readonly string[]) {
  const unknown = names.find((name) => scenarios.every((scenario) => scenario.name !== name))
  if (unknown !== undefined) {
    const known = scenarios.map(({ name }) => name).join(', ')
    throw new Error(`There is no scenario "${unknown}". Choose from: ${known}.`)
  }
  return names.length === 0 ? scenarios : scenarios.filter(({ name }) => names.includes(name))
}
