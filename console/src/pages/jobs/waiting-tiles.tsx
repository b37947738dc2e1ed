import { Skeleton } from '@mantine/core'
import classes from './jobs.module.css'

const tiles = Array.from({ length: 10 }, (_, tile) => `tile ${tile}`)

/** In the shape of the pictures, after 150 ms. */
export function WaitingTiles() {
  return (
    <div className={classes.waiting} role="status" aria-label="Loading">
      {tiles.map((tile) => (
        <Skeleton key={tile} className={classes.waitingTile ?? ''} radius={6} />
      ))}
    </div>
  )
}
