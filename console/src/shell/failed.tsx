import { useQueryErrorResetBoundary } from '@tanstack/react-query'
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { ApiError, isReachable } from '../api/client.ts'
import { Problem } from '../parts/problem.tsx'
import { mayComeBack, useComeBack } from './come-back.ts'
import classes from './failed.module.css'

/**
 * Where the reader comes back to. The link loads all anew: nothing stays of what the former person has read.
 */
const here = () => window.location.pathname + window.location.search

/** The router keeps that the code of the page did not come. Without the network the page stays. */
function loadAnew(): void {
  void isReachable().then((isThere) => {
    if (isThere) window.location.reload()
  })
}

/** A page that could not be shown: what happened, and a way on. */
export function Failed({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const boundary = useQueryErrorResetBoundary()
  const isSignedOut = error instanceof ApiError && error.status === 401
  const onAgain = () => {
    if (error instanceof ApiError && error.status === 0) return loadAnew()
    boundary.reset()
    reset()
    void router.invalidate()
  }
  useComeBack(error, onAgain)
  return (
    <main className={classes.failed}>
      <Problem error={error} onAgain={onAgain} />
      {error instanceof ApiError && error.reason === 'database_away' ? (
        <p>
          Requests to models go on where the key is in memory and no balance or budget limits it. Those of
          other keys are refused with status 503 meanwhile, and none is lost or charged twice.{' '}
          <a href="/docs/runbook#database_away">What to do</a>
        </p>
      ) : null}
      {mayComeBack(error) ? <p>This page comes back by itself when the gateway does.</p> : null}
      {isSignedOut ? <a href={`/console/sign-in?to=${encodeURIComponent(here())}`}>Sign in again</a> : null}
    </main>
  )
}
