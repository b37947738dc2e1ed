import type { ReactNode } from 'react'
import classes from './teach.module.css'

/** An empty page teaches: what will be here, and the one thing to do. */
export function Teach({
  title,
  children,
  action,
}: {
  title: string
  children?: ReactNode
  action?: ReactNode
}) {
  return (
    <div className={classes.teach}>
      <h2>{title}</h2>
      {children === undefined ? null : <div className={classes.words}>{children}</div>}
      {action}
    </div>
  )
}
