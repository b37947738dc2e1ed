import { GatewayError } from './error.ts'

/** Where a tenant would leave more in storage than it may. `field`: what of the request asks to keep something. */
export function storageFull(bytesMax: number, field?: string): GatewayError {
  return new GatewayError(
    'rate_limited',
    `${field ?? 'storage'}: this tenant may keep ${bytesMax} bytes (KEPT_TENANT_BYTES_MAX) of answers, conversations, files, requests that wait in the background and answers for repeats, and with this request it would keep more. Delete some of them, or send the request so that nothing is kept.`,
    { code: 'storage_full', ...(field === undefined ? {} : { field }) },
  )
}
