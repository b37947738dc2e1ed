import { type GatewayError, gatewayError } from './error.ts'

/**
 * Where a tenant would leave more in storage than it may. `field`: what of the request asks to keep
 * something.
 */
export function storageFull(bytesMax: number, field?: string): GatewayError {
  return gatewayError('storage_full', { path: field ?? 'storage', bytesMax }, { field })
}
