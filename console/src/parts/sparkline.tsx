import classes from './sparkline.module.css'

const size = { width: 80, height: 20 }

/** The shape of a number over time. The numbers themselves appear beside it, so it is not read out. */
export function Sparkline({ values }: { values: readonly number[] }) {
  const most = Math.max(...values, 1)
  const step = size.width / Math.max(values.length - 1, 1)
  const points = values.map(
    (value, at) =>
      `${(at * step).toFixed(1)},${(size.height - 2 - (value / most) * (size.height - 4)).toFixed(1)}`,
  )
  return (
    <svg
      className={classes.line}
      width={size.width}
      height={size.height}
      aria-hidden="true"
      focusable="false"
    >
      <polyline points={points.join(' ')} />
    </svg>
  )
}
