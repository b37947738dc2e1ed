import { GatewayError, type GatewayErrorOptions } from '../../src/canonical/error.ts'
import { reasons, reasonWords } from '../../src/canonical/reasons/catalogue.ts'
import type { ErrorKind } from '../../src/canonical/reasons/kinds.ts'

/** An error for a test to which only the kind matters: of the first reason without a code or a fault of its own. */
export function errorOfKind(kind: ErrorKind, message: string, options?: GatewayErrorOptions): GatewayError {
  const reason = reasonWords.find((word) => {
    const entry = reasons[word]
    return entry.kind === kind && entry.code === undefined && entry.fault === undefined
  })
  if (reason === undefined) throw new Error(`The catalogue has no plain reason of the kind ${kind}.`)
  return new GatewayError(reason, message, options)
}
