/**
 * Prices are exact decimals of USD. They are compared and shown as they are written, and never become floats.
 */

/** Negative: `a` is less. An unknown price is greater than all. */
export function comparePrices(a: string | null | undefined, b: string | null | undefined): number {
  if (a == null || b == null) return Number(a == null) - Number(b == null)
  const [wholeA = '', partA = ''] = a.split('.')
  const [wholeB = '', partB = ''] = b.split('.')
  const places = Math.max(partA.length, partB.length)
  const difference = BigInt(wholeA + partA.padEnd(places, '0')) - BigInt(wholeB + partB.padEnd(places, '0'))
  return difference < 0n ? -1 : Number(difference > 0n)
}

export function usd(price: string): string {
  return `$${price}`
}
