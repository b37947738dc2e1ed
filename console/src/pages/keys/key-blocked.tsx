import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Key } from '../../api/access-queries.ts'
import { Moment } from '../../parts/formatted-values.tsx'
import { Notice } from '../../parts/state.tsx'
import classes from '../access/access.module.css'

/** Who blocked a key, when and why. Nothing if it is not blocked. */
export function KeyBlocked({ of, onUnblock }: { of: Key; onUnblock?: () => void }) {
  if (of.blocked === null) return null
  const { at, by, reason, of_parent } = of.blocked
  return (
    <Notice
      tone="bad"
      action={
        of_parent || onUnblock === undefined ? undefined : (
          <Button variant="default" onClick={onUnblock}>
            Unblock key
          </Button>
        )
      }
    >
      {of_parent && of.parent_id !== null ? (
        <>
          <Link className={classes.link} to="/console/keys/$id" params={{ id: of.parent_id }}>
            The key above it
          </Link>{' '}
          is blocked, and its sub-keys with it,
        </>
      ) : (
        'This key is blocked'
      )}{' '}
      since <Moment at={at} />, by {by}: {reason}
    </Notice>
  )
}
