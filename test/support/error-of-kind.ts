import { GatewayError, type GatewayErrorOptions } from '../../src/canonical/error.ts'
import { type Reason, reasons } from '../../src/canonical/reasons/catalogue.ts'
import type { ErrorKind } from '../../src/canonical/reasons/kinds.ts'

/** An error for a test to which only the kind matters: of the first reason without a code or a fault of its own. */
export function errorOfKind(kind: ErrorKind, message: string, options?: GatewayErrorOptions): GatewayError {
  return new GatewayError(reasonOfKind(kind), message, options)
}

function reasonOfKind(kind: ErrorKind): Reason | ErrorKind {
  const found = Object.entries(reasons).find(
    ([, entry]) => entry.kind === kind && entry.code === undefined && entry.fault === undefined,
  )
  return (found?.[0] as Reason | undefined) ?? kind
}
