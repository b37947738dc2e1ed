import { type GatewayError, gatewayError } from './error.ts'

/**
 * The error for a tenant that would exceed its storage limit. `field`: the request field that asks for
 * storage.
 */
export function storageFull(bytesMax: number, field?: string): GatewayError {
  return gatewayError('storage_full', { path: field ?? 'storage', bytesMax }, { field })
}
