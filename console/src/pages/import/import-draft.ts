import type { Asked } from './import-query.ts'

/** What somebody has entered about an import. */
export interface ImportDraft {
  /** Of the file; `pasted` where there is only text. */
  name: string
  text: string
  /** Null: not known yet. */
  format: Asked['format'] | null
  keys: string
  variables: Readonly<Record<string, string>>
  keepsExisting: boolean
  libraryPrices: boolean
  maxOutput: string
  contextLength: string
}

export function numberFault(text: string): string | undefined {
  return text.trim() === '' || /^[1-9]\d{0,8}$/.test(text.trim())
    ? undefined
    : 'Write a whole number, such as 4096.'
}

export function draftOf(began: Asked | undefined): ImportDraft {
  return {
    name: began?.file.name ?? 'pasted',
    text: began?.file.text ?? '',
    format: began?.format ?? null,
    keys: began?.keys ?? '',
    variables: began?.variables ?? {},
    keepsExisting: began?.keep_existing ?? false,
    libraryPrices: began?.library_prices ?? false,
    maxOutput: String(began?.max_output_tokens ?? ''),
    contextLength: String(began?.context_length ?? ''),
  }
}

export function bodyOf(draft: ImportDraft, format: Asked['format']): Asked {
  const { name, text, keys, variables, keepsExisting, libraryPrices, maxOutput, contextLength } = draft
  const sizes = { max_output_tokens: Number(maxOutput), context_length: Number(contextLength) }
  return {
    format,
    file: { name, text },
    keys: format === 'litellm' && keys.trim() !== '' ? keys : null,
    variables: { ...variables },
    keep_existing: keepsExisting,
    library_prices: libraryPrices,
    ...Object.fromEntries(Object.entries(sizes).filter(([, size]) => size > 0)),
  }
}
