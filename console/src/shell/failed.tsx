import { useQueryErrorResetBoundary } from '@tanstack/react-query'
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { ApiError } from '../api/client.ts'
import { Problem } from '../parts/problem.tsx'
import classes from './failed.module.css'

/**
 * Where the reader comes back to. The link loads all anew: nothing stays of what the former person has read.
 */
const here = () => window.location.pathname + window.location.search

/** A page that could not be shown: what happened, and a way on. */
export function Failed({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const boundary = useQueryErrorResetBoundary()
  const isSignedOut = error instanceof ApiError && error.status === 401
  return (
    <main className={classes.failed}>
      <Problem
        error={error}
        onAgain={() => {
          boundary.reset()
          reset()
          void router.invalidate()
        }}
      />
      {isSignedOut ? <a href={`/console/sign-in?to=${encodeURIComponent(here())}`}>Sign in again</a> : null}
    </main>
  )
}
