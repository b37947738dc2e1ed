/**
 * Parses a decimal USD amount exactly, as nano-USD: `2.50` becomes 2500000000n. Returns undefined unless it
 * is a plain decimal from 0 to 999999999 with at most 9 decimals.
 */
export function nanoFromUsd(text: string): bigint | undefined {
  const parts = /^(\d{1,9})(?:\.(\d{1,9}))?$/.exec(text)
  if (parts === null) return undefined
  const [, whole = '', decimals = ''] = parts
  return BigInt(whole + decimals.padEnd(9, '0'))
}

/** Formats an amount in USD exactly, as a plain decimal: 2500000000n becomes `2.5`. */
export function usd(nano: bigint): string {
  if (nano < 0n) return `-${usd(-nano)}`
  const digits = nano.toString().padStart(10, '0')
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/, '')
}
