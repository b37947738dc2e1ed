import type { Job } from '../src/jobs/job.ts'
import type { Gateway } from '../src/pipeline/gateway.ts'
import { set } from '../src/pipeline/trace-request.ts'
import { own } from '../src/telemetry/traces/conventions.ts'
import { kinds } from '../src/telemetry/traces/span.ts'
import type { Trace } from '../src/telemetry/traces/trace.ts'

/** Continues, for a run of a job, the trace of the request that became the job, even in another process. */
export function jobTrace(
  { traces }: Pick<Gateway, 'traces'>,
  { id, opened, runs }: Job,
  name: string,
  kind: (typeof kinds)['consumer' | 'client'] = kinds.consumer,
): Trace | undefined {
  const trace = traces?.continue({ requestId: id, name, kind }, opened.traceparent)
  if (trace?.isSampled === true && kind === kinds.consumer) set(trace.root.attributes, own.run, runs)
  return trace
}

/** Ends the trace of a run that did not end its job; another run or another worker will. */
export function endJobTrace(trace: Trace | undefined, { id, tenantId, keyId }: Job): void {
  if (trace?.isSampled === true) {
    set(trace.root.attributes, own.requestId, id)
    set(trace.root.attributes, own.tenantId, tenantId)
    set(trace.root.attributes, own.keyId, keyId)
  }
  trace?.end()
}
