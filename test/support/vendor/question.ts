/** What is asked of the strict vendor, whatever the wire format. */
export interface Question {
  model: string
  stream: boolean
  /** Number of answers. */
  choices: number
  /** The user's last text; media in it stand as words. */
  text: string
  /** What the tools said, when the conversation ends with their results. */
  results: string[]
  /** How many turns came before: makes the ids of calls differ from turn to turn. */
  turns: number
  tools: Tool[]
  choice: ToolChoice
  isParallel: boolean
  format: { type: 'text' } | { type: 'object' } | { type: 'schema'; schema: unknown }
  /** Most tokens of text. */
  tokensMax: number
  stop: string[]
  /** Whether it is to think before it answers. */
  thinks: boolean
  /** How many thoughts of its own came back with a seal that it made. */
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

/** `only`: the tools that may be called; `isForced`: all of those are to be called, now. */
export interface ToolChoice {
  mode: 'auto' | 'none' | 'required'
  only: string[] | undefined
  isForced: boolean
}

/** How images and the like stand in a text, so that the answer shows that they arrived. */
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

/** Splits a `data:` address; any other stays an address. */
export function mediaOfUrl(url: string): { mediaType?: string; data?: string; url?: string } {
  const found = /^data:([^;,]+);base64,(.*)$/s.exec(url)
  return found?.[1] === undefined ? { url } : { mediaType: found[1], data: found[2] ?? '' }
}

/** About four bytes a token, at least one. */
export function tokensOf(...values: unknown[]): number {
  const bytes = values.reduce<number>((sum, value) => sum + Buffer.byteLength(JSON.stringify(value ?? '')), 0)
  return Math.max(1, Math.ceil(bytes / 4))
}
