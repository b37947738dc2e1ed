import type { Schema } from '../../api/client.ts'
import { duration } from '../../format/numbers.ts'
import { passedOver, timelineOf } from './timeline.ts'
import classes from './waterfall.module.css'

/** Where the time of a request went: admission, each attempt with its reason, first token, end. */
export function Waterfall({ row }: { row: Schema<'LogDetail'> }) {
  const spans = timelineOf(row)
  const whole = Math.max(row.latency_ms.total ?? 0, ...spans.map(({ to }) => to), 1)
  const left = (ms: number) => `${(ms / whole) * 100}%`
  return (
    <div className={classes.waterfall}>
      <ol>
        {spans.map(({ name, words, from, to, kind, mark }) => (
          <li key={`${name} ${from}`}>
            <div className={classes.words}>
              <span>{name}</span> <span className={classes.why}>{words}</span>
              <span className={classes.took}>{duration(to - from)}</span>
            </div>
            <div className={classes.track} aria-hidden>
              <div
                className={classes.bar}
                data-kind={kind}
                style={{ left: left(from), width: left(Math.max(to - from, whole / 400)) }}
              />
              {mark === undefined ? null : <div className={classes.mark} style={{ left: left(mark.at) }} />}
            </div>
            {mark === undefined ? null : (
              <div className={classes.marked}>
                {mark.name} after {duration(mark.at)}
              </div>
            )}
          </li>
        ))}
      </ol>
      {passedOver(row).map(({ channel, reason }) => (
        <div key={`${channel} ${reason}`} className={classes.passed}>
          Passed over {channel}: {reason}
        </div>
      ))}
      {row.latency_ms.total === null ? <div className={classes.passed}>The end is not known.</div> : null}
    </div>
  )
}
