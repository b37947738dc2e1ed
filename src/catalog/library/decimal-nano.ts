/**
 * The nano-USD of a USD amount that JSON has as a number, without an error of floating point: it reads the digits of the
 * number. Digits behind the ninth decimal are rounded half up. Undefined unless it is from 0 to 999999999.
 */
export function nanoFromNumber(amount: number): bigint | undefined {
  if (!(amount >= 0 && amount <= 999_999_999)) return undefined
  const text = String(amount)
  const [whole = '', decimals = ''] = (text.includes('e') ? amount.toFixed(20) : text).split('.')
  const digits = decimals.padEnd(10, '0')
  const nano = BigInt(whole + digits.slice(0, 9))
  return digits.charAt(9) >= '5' ? nano + 1n : nano
}
