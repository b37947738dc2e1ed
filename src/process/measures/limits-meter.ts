import type { Held } from '../../limits/limits.ts'
import { declared } from '../../telemetry/metrics/declarations.ts'
import type { Metrics } from '../../telemetry/metrics/store.ts'

/** Counts limit decisions. A request may involve two of them. */
export function limitsMeter(metrics: Metrics): (decision: Held) => void {
  const granted = metrics.cells(declared.limitsGranted).at()
  const refused = metrics.cells(declared.limitsRefused)
  return (decision) => {
    if (decision.granted) granted.value += 1
    else refused.at(decision.scope, decision.limit).value += 1
  }
}
