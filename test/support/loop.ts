/**
 * A tool loop of three turns: the user's text and an image name two tools, which the strict vendor calls side by side; the
 * results and another text name them again; after the results alone, the vendor ends with a text that shows them.
 */
export type Loop = (options: LoopOptions) => Promise<Turn[]>

export interface LoopOptions {
  /** The gateway's origin, without `/v1`. */
  origin: string
  apiKey: string
  model: string
  stream: boolean
  fetch: typeof fetch
}

/** One answer, as the SDK's own types show it. */
export interface Turn {
  calls: Call[]
  text: string
  /** The reasoning that the SDK shows; undefined if it shows none at all. */
  reasoning: string | undefined
  /** The SDK's own word for the end. */
  finish: string | null
  inputTokens: number | undefined
  outputTokens: number | undefined
}

export interface Call {
  id: string
  name: string
  /** The arguments, parsed. */
  input: unknown
}

export const question = 'Look at this, then ask get_weather and get_time.'
export const questionAgain = 'Now ask get_weather and get_time again.'

/** One transparent pixel. */
export const image = {
  mediaType: 'image/png',
  base64: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
} as const
export const imageUrl = `data:${image.mediaType};base64,${image.base64}`
/** The strict vendor's description of it. */
export const imageWords = `[image: ${image.mediaType}, ${Buffer.from(image.base64, 'base64').length} bytes]`

export const tools = {
  get_weather: {
    description: 'The weather in a city',
    schema: {
      type: 'object' as const,
      properties: { city: { type: 'string' as const }, unit: { enum: ['celsius', 'fahrenheit'] } },
      required: ['city', 'unit'],
      additionalProperties: false,
    },
  },
  get_time: {
    description: 'The time of a zone',
    schema: {
      type: 'object' as const,
      properties: { zone: { type: 'string' as const } },
      required: ['zone'],
      additionalProperties: false,
    },
  },
}

/** The arguments that the strict vendor gives the tools, in its order. */
export const inputs = { get_weather: { city: 'demo', unit: 'celsius' }, get_time: { zone: 'demo' } }

/** A tool's answer, which shows that its input arrived. */
export function runTool(name: string, input: unknown): string {
  return `${name} knows ${JSON.stringify(input)}`
}

/** Notes the id that the gateway gave to each request. `by`: how to ask it. */
export function notingFetch(by: typeof fetch = fetch): { fetch: typeof fetch; requestIds: string[] } {
  const requestIds: string[] = []
  return {
    requestIds,
    fetch: async (...sent) => {
      const response = await by(...sent)
      requestIds.push(response.headers.get('x-request-id') ?? 'none')
      return response
    },
  }
}
