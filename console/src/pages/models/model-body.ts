import type { Schema } from '../../api/client.ts'

/** What the form for a new model has. A number that is not given is an empty text. */
export interface ModelValues {
  id: string
  context_length: number | string
  max_output_tokens: number | string
  aliases: string[]
  plain_members: string[]
  /** Decimals in USD for a million tokens. */
  input: string
  output: string
  cache_read: string
}

/** The request of the form, without what was not given. */
export function modelBody({
  id,
  context_length,
  max_output_tokens,
  aliases,
  plain_members,
  ...prices
}: ModelValues): Schema<'ModelRequest'> {
  const price = Object.fromEntries(Object.entries(prices).filter(([, value]) => value !== ''))
  return {
    id: id.trim(),
    ...(typeof context_length === 'number' ? { context_length } : {}),
    ...(typeof max_output_tokens === 'number' ? { max_output_tokens } : {}),
    ...(aliases.length === 0 ? {} : { aliases }),
    ...(plain_members.length === 0 ? {} : { plain_members }),
    ...(Object.keys(price).length === 0 ? {} : { price }),
  }
}
