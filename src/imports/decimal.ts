/** Decimals are kept as text, because numbers would lose digits of amounts of money. */

const decimals = 9

/**
 * Returns the product with at most 9 decimals, rounded half up. Undefined if a factor is negative or not a
 * decimal.
 */
export function product(...factors: readonly string[]): string | undefined {
  let digits = 1n
  let scale = 0
  for (const factor of factors) {
    const read = readDecimal(factor)
    if (read === undefined) return undefined
    digits *= read.digits
    scale += read.scale
  }
  return plain(digits, scale)
}

/** Returns the quotient of two whole numbers with at most 9 decimals, rounded down. */
export function quotient(dividend: bigint, divisor: bigint): string {
  return plain((dividend * 10n ** BigInt(decimals)) / divisor, decimals)
}

function readDecimal(text: string): { digits: bigint; scale: number } | undefined {
  // JSON numbers may have an exponent.
  const parts = /^\+?(\d{1,30})(?:\.(\d{0,30}))?(?:[eE]([+-]?\d{1,2}))?$/.exec(text.trim())
  if (parts === null) return undefined
  const [, whole = '', fraction = '', exponent = '0'] = parts
  return { digits: BigInt(whole + fraction), scale: fraction.length - Number(exponent) }
}

function plain(digits: bigint, scale: number): string {
  const up = decimals - scale
  const nano =
    up >= 0 ? digits * 10n ** BigInt(up) : (2n * digits + 10n ** BigInt(-up)) / (2n * 10n ** BigInt(-up))
  const text = nano.toString().padStart(decimals + 1, '0')
  const fraction = text.slice(-decimals).replace(/0+$/, '')
  return text.slice(0, -decimals) + (fraction === '' ? '' : `.${fraction}`)
}
