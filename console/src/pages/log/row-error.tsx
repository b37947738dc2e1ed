import { Link } from '@tanstack/react-router'
import type { Schema } from '../../api/client.ts'
import { Notice } from '../../parts/state.tsx'
import { toneOf } from './log-columns.tsx'
import classes from './log-tabs.module.css'

/** Why a request did not succeed: what one asks first about such a row. */
export function RowError({ row }: { row: Schema<'LogDetail'> }) {
  const { error } = row
  if (error === null) return null
  return (
    <Notice tone={toneOf(row) === 'bad' ? 'bad' : 'warning'}>
      <strong>
        {error.reason === null ? (
          error.kind
        ) : (
          <Link to="/docs/$" params={{ _splat: 'reference/reasons' }} hash={error.reason}>
            {error.reason}
          </Link>
        )}
        {error.reason === null || error.reason === error.kind ? '' : `, ${error.kind}`}
        {error.upstream_status === null ? '' : `, the upstream answered ${error.upstream_status}`}
      </strong>
      <div className={classes.message}>{error.message ?? 'The error has no message.'}</div>
    </Notice>
  )
}
