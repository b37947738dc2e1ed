import type { Log } from '../log.ts'

/** Returns the trace id of a request or job, or undefined if it is not recorded. */
export type TraceIdOf = (requestId: string) => string | undefined

/** Returns a log that adds the trace id to lines about a request, as `trace_id`. */
export function tracedLog(log: Log, traceIdOf: TraceIdOf): Log {
  const traced = (fields: object): object => {
    const id = 'request' in fields ? fields.request : 'job' in fields ? fields.job : undefined
    const traceId = typeof id === 'string' ? traceIdOf(id) : undefined
    return traceId === undefined ? fields : { ...fields, trace_id: traceId }
  }
  return {
    info: (fields, message) => log.info(traced(fields), message),
    warn: (fields, message) => log.warn(traced(fields), message),
    error: (fields, message) => log.error(traced(fields), message),
    fatal: (fields, message) => log.fatal(traced(fields), message),
    child: (fields) => tracedLog(log.child(traced(fields)), traceIdOf),
  }
}
