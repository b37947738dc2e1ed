import { AlertIcon, CheckCircleIcon, CircleIcon, InfoIcon, XCircleIcon } from '@primer/octicons-react'
import type { ReactNode } from 'react'
import classes from './state.module.css'
import type { Tone } from './tone.ts'

const shapes = {
  good: CheckCircleIcon,
  warning: AlertIcon,
  bad: XCircleIcon,
  quiet: CircleIcon,
  info: InfoIcon,
} as const

/** A state in words: `enabled`, `breaker open`, `upstream_error: 529`. */
export function State({ tone, children }: { tone: Tone; children: ReactNode }) {
  const Shape = shapes[tone]
  return (
    <span className={classes.state} data-tone={tone}>
      <Shape size={12} aria-hidden />
      <span>{children}</span>
    </span>
  )
}

/** A sentence about what is wrong, or that all is well, with the way to it in `children`. */
export function Notice({ tone, children, action }: { tone: Tone; children: ReactNode; action?: ReactNode }) {
  const Shape = shapes[tone]
  return (
    <div className={classes.notice} data-tone={tone} role={tone === 'bad' ? 'alert' : 'status'}>
      <Shape size={16} aria-hidden />
      <div className={classes.words}>{children}</div>
      {action}
    </div>
  )
}
