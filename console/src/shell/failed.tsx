import { useQueryErrorResetBoundary } from '@tanstack/react-query'
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { ApiError, isReachable } from '../api/client.ts'
import { Problem } from '../parts/problem.tsx'
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
  const isUnreached = error instanceof ApiError && error.status === 0
  useEffect(() => {
    if (!isUnreached) return
    window.addEventListener('online', loadAnew)
    return () => window.removeEventListener('online', loadAnew)
  }, [isUnreached])
  return (
    <main className={classes.failed}>
      <Problem
        error={error}
        onAgain={() => {
          if (isUnreached) return loadAnew()
          boundary.reset()
          reset()
          void router.invalidate()
        }}
      />
      {isSignedOut ? <a href={`/console/sign-in?to=${encodeURIComponent(here())}`}>Sign in again</a> : null}
    </main>
  )
}
