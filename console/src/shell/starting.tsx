import classes from './console-frame.module.css'
import { Waiting } from './waiting.tsx'

/** The frame before it is known who looks: in its shape, so that nothing moves when the page comes. */
export function Starting() {
  return (
    <div className={classes.frame}>
      <div className={classes.bar} />
      <div className={classes.side} />
      <div className={classes.main}>
        <Waiting />
      </div>
    </div>
  )
}
