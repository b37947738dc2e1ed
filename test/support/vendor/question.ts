/** What a client asks, in any wire format. */
export interface Question {
  model: string
  stream: boolean
  /** Number of answers. */
  choices: number
  /** The user's last text, with a description in place of each medium. */
  text: string
  /** The user's text in the answer that this request continues by its id. */
  heldText?: string
  /** Tool results at the end of the conversation. */
  results: string[]
  /** Number of turns so far. It makes the ids of calls differ from turn to turn. */
  turns: number
  tools: Tool[]
  choice: ToolChoice
  isParallel: boolean
  format: { type: 'text' } | { type: 'object' } | { type: 'schema'; schema: unknown }
  /** Bound of the tokens of text. */
  tokensMax: number
  stop: string[]
  /** The client asks for a thought before the answer. */
  thinks: boolean
  /** Number of the vendor's own thoughts that the client sent back with a valid seal. */
  thoughtsKnown: number
  /** About four bytes a token. */
  promptTokens: number
}

export interface Tool {
  name: string
  namespace?: string
  kind: 'function' | 'custom'
  /** JSON Schema. */
  parameters: unknown
}

/** `only`: the vendor may call these tools and no others. `isForced`: the vendor must call all of them now. */
export interface ToolChoice {
  mode: 'auto' | 'none' | 'required'
  only: string[] | undefined
  isForced: boolean
}

/** A description of an image or document, so that the answer shows that it arrived. */
export function mediaWords(
  kind: string,
  media: { mediaType?: unknown; data?: unknown; url?: unknown },
): string {
  if (typeof media.data === 'string') {
    const bytes = Buffer.from(media.data, 'base64').length
    return `[${kind}: ${typeof media.mediaType === 'string' ? media.mediaType : 'data'}, ${bytes} bytes]`
  }
  return typeof media.url === 'string' ? `[${kind}: ${media.url.slice(0, 100)}]` : `[${kind}]`
}

/** Splits a `data:` URL. Returns any other URL as it is. */
export function mediaOfUrl(url: string): { mediaType?: string; data?: string; url?: string } {
  const found = /^data:([^;,]+);base64,(.*)$/s.exec(url)
  return found?.[1] === undefined ? { url } : { mediaType: found[1], data: found[2] ?? '' }
}

/** About four bytes a token, at least one. */
export function tokensOf(...values: unknown[]): number {
  const bytes = values.reduce<number>((sum, value) => sum + Buffer.byteLength(JSON.stringify(value ?? '')), 0)
  return Math.max(1, Math.ceil(bytes / 4))
}
