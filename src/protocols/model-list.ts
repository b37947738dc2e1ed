import { countOf, isRecord, type Json, recordsOf, textOf } from '../canonical/json.ts'
import type { ProtocolName } from './protocol.ts'

/** A page of an upstream's list of models. */
export interface ModelPage {
  models: { name: string; contextLength: number | undefined; maxOutputTokens: number | undefined }[]
  /** The cursor of the next page; undefined for the last page. */
  cursor: string | undefined
}

/** How a protocol lists models. */
export interface ModelListSide {
  /**
   * The path relative to the channel's base URL. `cursor`: that of the previous page's answer; undefined for
   * the first page.
   */
  path(cursor: string | undefined): string
  /** Undefined if the body is not a list of models. */
  read(body: Json): ModelPage | undefined
}

/**
 * https://platform.openai.com/docs/api-reference/models/list, read 2026-11-22: a single page that contains
 * only names.
 */
const openai: ModelListSide = {
  path: () => '/models',
  read({ data }) {
    if (!Array.isArray(data)) return undefined
    return {
      models: named(data, 'id', () => ({ contextLength: undefined, maxOutputTokens: undefined })),
      cursor: undefined,
    }
  },
}

/**
 * https://platform.claude.com/docs/en/api/models/list, read 2026-11-22; sizes as in `ModelInfo` of the
 * vendor's SDK.
 */
const anthropic: ModelListSide = {
  path: (cursor) =>
    `/v1/models?limit=1000${cursor === undefined ? '' : `&after_id=${encodeURIComponent(cursor)}`}`,
  read({ data, has_more: hasMore, last_id: lastId }) {
    if (!Array.isArray(data)) return undefined
    const models = named(data, 'id', ({ max_input_tokens: input, max_tokens: output }) => ({
      contextLength: sizeOf(input),
      maxOutputTokens: sizeOf(output),
    }))
    return { models, cursor: hasMore === true ? textOf(lastId) : undefined }
  },
}

/**
 * https://ai.google.dev/api/models#method:-models.list, read 2026-11-22: at most 1000 models per page, with
 * names that begin with `models/`.
 */
const gemini: ModelListSide = {
  path: (cursor) =>
    `/models?pageSize=1000${cursor === undefined ? '' : `&pageToken=${encodeURIComponent(cursor)}`}`,
  read({ models: data, nextPageToken }) {
    if (!Array.isArray(data)) return undefined
    const chats = recordsOf(data).filter(({ supportedGenerationMethods: methods }) => {
      return !Array.isArray(methods) || methods.includes('generateContent')
    })
    const models = named(chats, 'name', ({ inputTokenLimit: input, outputTokenLimit: output }) => ({
      contextLength: sizeOf(input),
      maxOutputTokens: sizeOf(output),
    }))
    for (const model of models) model.name = model.name.replace(/^models\//, '')
    return { models, cursor: textOf(nextPageToken) }
  },
}

/** The order of preference in which one of a channel's protocols is chosen to list its models. */
export const modelListSides: readonly { protocol: ProtocolName; side: ModelListSide }[] = [
  { protocol: 'openai-chat', side: openai },
  { protocol: 'openai-responses', side: openai },
  { protocol: 'anthropic-messages', side: anthropic },
  { protocol: 'gemini', side: gemini },
  { protocol: 'openai-images', side: openai },
]

type Sizes = Pick<ModelPage['models'][number], 'contextLength' | 'maxOutputTokens'>

/** Entries without a name that clients could use are left out. */
function named(data: unknown[], member: 'id' | 'name', sizesOf: (entry: Json) => Sizes): ModelPage['models'] {
  return data.filter(isRecord).flatMap((entry) => {
    const name = textOf(entry[member])
    return name !== undefined && /^[^\p{C}]{1,256}$/u.test(name) ? [{ name, ...sizesOf(entry) }] : []
  })
}

function sizeOf(value: unknown): number | undefined {
  const size = countOf(value)
  return size === 0 ? undefined : size
}
