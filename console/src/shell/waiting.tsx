import { Skeleton } from '@mantine/core'
import classes from './waiting.module.css'

/** In the shape of a page, and seen only after 150 ms: what comes sooner must not blink. */
export function Waiting({ rows = 8 }: { rows?: number }) {
  return (
    <div className={classes.waiting} role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => `row ${row}`).map((row) => (
        <Skeleton key={row} height={20} radius={6} />
      ))}
    </div>
  )
}
