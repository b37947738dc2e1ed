/** Where models without a price of their own get one. */
export type LibraryChoice = 'none' | 'library' | 'daily'

export interface Library {
  choice: LibraryChoice
  /** Where it is renewed from; empty: where the library's project publishes it. */
  renewFrom: string
}

/** Reads `prices` as gateway.yaml has it. */
export function libraryOf(value: unknown): Library {
  if (value === 'library') return { choice: 'library', renewFrom: '' }
  if (typeof value !== 'object' || value === null) return { choice: 'none', renewFrom: '' }
  const renews = 'renew' in value && value.renew === 'daily'
  const from = 'renew_from' in value && typeof value.renew_from === 'string' ? value.renew_from : ''
  return { choice: renews ? 'daily' : 'library', renewFrom: from }
}

export function pricesOf({ choice, renewFrom }: Library): unknown {
  if (choice === 'none') return null
  if (choice === 'library') return 'library'
  const from = renewFrom.trim()
  return { library: true, renew: 'daily', ...(from === '' ? {} : { renew_from: from }) }
}
