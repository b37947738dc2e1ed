import { Checkbox } from '@mantine/core'
import { useMemo, useState } from 'react'
import classes from './grid.module.css'
import type { Selection } from './grid-props.ts'

/** `things`: "keys". `nameOf`: what a box is called, for screen readers. */
export function useSelection<Row>(
  all: readonly Row[],
  { idOf, nameOf, things }: { idOf(row: Row): string; nameOf(row: Row): string; things: string },
): Selection<Row> {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const rows = useMemo(() => all.filter((row) => ids.has(idOf(row))), [all, ids, idOf])
  const has = (row: Row) => ids.has(idOf(row))
  const keep = (kept: readonly Row[]) => setIds(new Set(kept.map(idOf)))
  const toggle = (row: Row) => {
    const next = new Set(ids)
    if (!next.delete(idOf(row))) next.add(idOf(row))
    setIds(next)
  }
  const isAll = rows.length > 0 && rows.length === all.length
  return {
    rows,
    has,
    toggle,
    keep,
    column: {
      id: 'selected',
      head: 'Selected',
      headCell: (
        <Checkbox
          size="xs"
          aria-label={`Select all ${things} in view`}
          checked={isAll}
          indeterminate={rows.length > 0 && !isAll}
          onChange={() => keep(isAll ? [] : all)}
        />
      ),
      width: 36,
      cell: (row) => (
        // The whole cell is the box: a click beside it must not open the row.
        // biome-ignore lint/a11y/noLabelWithoutControl: Mantine's box is a control
        <label className={classes.tick}>
          <Checkbox
            size="xs"
            tabIndex={-1}
            aria-label={`Select ${nameOf(row)}`}
            checked={has(row)}
            onChange={() => toggle(row)}
          />
        </label>
      ),
    },
  }
}
