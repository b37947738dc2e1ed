import type { ReactNode } from 'react'
import classes from './empty-state.module.css'

/** An empty page teaches: what will be here, and the one thing to do. */
export function EmptyState({
  title,
  children,
  action,
}: {
  title: string
  children?: ReactNode
  action?: ReactNode
}) {
  return (
    <div className={classes.empty}>
      <h2>{title}</h2>
      {children === undefined ? null : <div className={classes.words}>{children}</div>}
      {action}
    </div>
  )
}
