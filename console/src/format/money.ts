const perUsd = 1_000_000_000n

/**
 * Whether sums with requests of unknown cost say nothing of what they cost: then they are not $0. A part of
 * the requests can cost nothing, such as those that were refused.
 */
export function isCostUnknown({
  requests,
  unpriced_requests,
  cost_nano_usd,
}: {
  requests: number
  unpriced_requests: number
  cost_nano_usd: string
}): boolean {
  return unpriced_requests > 0 && (unpriced_requests >= requests || cost_nano_usd === '0')
}

/**
 * Nano-USD, as the API gives them in digits, in the reader's locale: up to the first two digits that matter,
 * so never `$0.00` for money that was spent. `$0.00042`, `$1.25`, `$12,480`.
 */
export function money(nanoUsd: string): string {
  const amount = BigInt(nanoUsd)
  const size = amount < 0n ? -amount : amount
  const usd = usdOf(nanoUsd)
  if (size === 0n) return inUsd(usd, 0, 2)
  if (size >= 10_000n * perUsd) return inUsd(usd, 0, 0)
  if (size >= perUsd / 10n) return inUsd(usd, 2, 2)
  const leadingZeros = 9 - String(size).length
  return inUsd(usd, 2, leadingZeros + 2)
}

/** All of it, for a hover and for copies: `$0.000420001`. */
export function exactMoney(nanoUsd: string): string {
  const amount = BigInt(nanoUsd)
  const size = amount < 0n ? -amount : amount
  const parts = String(size % perUsd)
    .padStart(9, '0')
    .replace(/0{1,7}$/, '')
  return `${amount < 0n ? '-' : ''}$${size / perUsd}.${parts}`
}

/** For charts, which draw doubles. */
export function usdOf(nanoUsd: string): number {
  return Number(nanoUsd) / Number(perUsd)
}

/** What `usdOf` gave, in words again. */
export function moneyOf(usd: number): string {
  return money(String(Math.round(usd * Number(perUsd))))
}

function inUsd(usd: number, least: number, most: number): string {
  return new Intl.NumberFormat(undefined, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits: least,
    maximumFractionDigits: most,
  }).format(usd)
}
