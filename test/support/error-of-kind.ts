import { GatewayError, type GatewayErrorOptions } from '../../src/canonical/error.ts'
import { type Reason, reasons } from '../../src/canonical/reasons/catalogue.ts'
import type { ErrorKind } from '../../src/canonical/reasons/kinds.ts'

/** An error for a test to which only the kind matters: of a reason without a code or a fault of its own. */
export function errorOfKind(kind: ErrorKind, message: string, options?: GatewayErrorOptions): GatewayError {
  const reason = Object.keys(reasons).find((word): word is Reason => {
    const entry = reasons[word as Reason]
    return entry.kind === kind && entry.code === undefined && entry.fault === undefined
  })
  if (reason === undefined) throw new Error(`The catalogue has no plain reason of the kind ${kind}.`)
  return new GatewayError(reason, message, options)
}
