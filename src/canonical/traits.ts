import type { ReasoningEffort } from './chat.ts'

/**
 * What an offer takes and gives in one protocol. An absent trait is not known: then the protocol's own
 * default holds, and nothing is changed or refused because of it.
 *
 * The names are those of `traits` in gateway.yaml, there with `_` between words.
 */
export interface Traits {
  /** Kinds of parts that it reads. */
  input?: readonly Modality[]
  /** Kinds of parts that it writes. */
  output?: readonly Modality[]
  /** It takes tools. */
  tools?: boolean
  /** It may make several calls in one answer. */
  parallelTools?: boolean
  /** It obeys a tool choice that demands a call. */
  forcedTools?: boolean
  /** It takes a tool choice that demands a call while it thinks. */
  forcedToolsWhileThinking?: boolean
  /** It takes `strict` of a function. */
  strictTools?: boolean
  /** It takes tools with free text, and grammars for them. */
  customTools?: boolean
  /** It takes tools together with a JSON format. */
  toolsWithFormat?: boolean
  /** It takes a tool choice that demands a call together with a JSON format. */
  forcedToolsWithFormat?: boolean
  /** It takes tools while it thinks. */
  toolsWhileThinking?: boolean
  /** Optional parameters that it takes (true) or refuses or ignores (false). */
  takes?: Readonly<Partial<Record<OptionalParameter, boolean>>>
  /** It takes temperature and top_p in one request. */
  temperatureWithTopP?: boolean
  temperatureMax?: number
  /** False: it takes `temperature`, `topP` and `logprobs` only in a request in which it does not think. */
  samplingWhileThinking?: boolean
  /** The most stop sequences; 0: it takes none. */
  stopMax?: number
  /** The most answers of one request. */
  choicesMax?: number
  /** How to ask it to think; `none`: it refuses to be asked. */
  thinking?: ThinkingStyle
  /** False: it always thinks. */
  thinkingOff?: boolean
  /** It thinks in a request that has no word about thinking. */
  thinkingDefault?: boolean
  /**
   * The member of a Chat Completions request that turns its thinking on and off. Absent: the effort `none`
   * turns it off.
   */
  thinkingSwitch?: 'thinking' | 'enable_thinking'
  /** Bounds of `thinking: budget`, in tokens. */
  thinkingBudgetMin?: number
  thinkingBudgetMax?: number
  /** The efforts that it takes, the least first. */
  effortLevels?: readonly ReasoningEffort[]
  /** The effort of a request that names none; `none`: then it does not think. */
  effortDefault?: ReasoningEffort
  /** The member of a Chat Completions request that bounds its output. */
  outputBound?: 'max_tokens' | 'max_completion_tokens'
  /** It continues an assistant turn that ends the conversation. */
  prefill?: boolean
  /** The JSON Schemas that it takes for an answer; `none`: no schema at all. */
  schema?: SchemaSubset
  /** It can be asked for any JSON object. */
  jsonMode?: boolean
  /** It takes the role `developer`. */
  developerRole?: boolean
  /** It takes instructions between other turns. */
  laterInstructions?: boolean
  /** It takes several messages of instructions. False: one, in front of all others. */
  severalInstructions?: boolean
  /** It takes the text of a turn in several parts. */
  textParts?: boolean
  /** It takes a user turn right after tool results. */
  userAfterToolResults?: boolean
  /**
   * The thoughts of earlier turns in assistant messages of Chat Completions: each with calls needs the
   * member, each needs it with a text, or none may have it.
   */
  thoughtsInHistory?: 'required' | 'text' | 'refused'
  /** The ids of calls that it takes: any, or only those of nine letters and digits. */
  callIds?: 'any' | 'nine'
  /**
   * How it caches a prefix: where the request marks it, there in OpenAI's words, by itself, or not at all.
   */
  caching?: 'marks' | 'breakpoints' | 'automatic' | 'none'
  /** It fetches pictures and documents from their https URL. */
  fetchesUrls?: boolean
  /** It searches the web itself when it is asked to. */
  webSearch?: boolean
  /** It streams. */
  streaming?: boolean
  /** In tokens, input and output together. */
  contextLength?: number
  /** In tokens, thinking included. */
  maxOutputTokens?: number
  /** The least bound of an answer that it takes, in tokens: 1 to 16. */
  outputTokensMin?: number
  /** The protocols in which its vendor serves it. */
  protocols?: readonly string[]
}

export const modalities = ['text', 'image', 'document', 'audio', 'video'] as const
export type Modality = (typeof modalities)[number]

/**
 * How to ask a model to think. `budget`: a number of tokens. `adaptive`: it decides itself, within an
 * effort. `effort`: a word. `switch`: it thinks, or it does not.
 */
export const thinkingStyles = ['none', 'budget', 'adaptive', 'effort', 'switch'] as const
export type ThinkingStyle = (typeof thinkingStyles)[number]

/**
 * Sets of JSON Schema that vendors take: `src/protocols/schema-subset.ts` rewrites a schema to one of them.
 */
export const schemaSubsets = ['any', 'anthropic', 'openai-strict', 'gemini', 'none'] as const
export type SchemaSubset = (typeof schemaSubsets)[number]

/** Parameters without which a request means about the same. Their canonical names, as in `ChatRequest`. */
export const optionalParameters = [
  'temperature',
  'topP',
  'topK',
  'seed',
  'frequencyPenalty',
  'presencePenalty',
  'logitBias',
  'logprobs',
  'verbosity',
  'serviceTier',
  'store',
  'metadata',
  'userId',
  'cacheKey',
  'parallelToolCalls',
  'streamOptions',
  'include',
] as const
export type OptionalParameter = (typeof optionalParameters)[number]

/**
 * Whether a model can be made to call a tool; undefined: not known. One that always thinks may have to be let
 * to think.
 */
export function canForceTools(traits: Traits): boolean | undefined {
  const { tools, forcedTools, forcedToolsWhileThinking, thinkingOff } = traits
  if (tools === false || (thinkingOff === false && forcedToolsWhileThinking === false)) return false
  return forcedTools
}

/** Whether a model is known to have a word that keeps it from thinking. */
export function canTurnThinkingOff({ thinking, thinkingOff, thinkingSwitch, effortLevels }: Traits): boolean {
  if (thinkingOff === false || thinking === 'none') return false
  if (thinking === 'budget' || thinking === 'switch' || thinkingSwitch !== undefined) return true
  return effortLevels?.includes('none') === true
}

/** The later ones win, trait by trait, and in `takes` parameter by parameter. */
export function mergeTraits(...all: readonly (Traits | undefined)[]): Traits {
  const merged: Traits = Object.assign({}, ...all)
  const takes: Traits['takes'] = Object.assign({}, ...all.map((traits) => traits?.takes))
  if (takes !== undefined && Object.keys(takes).length > 0) merged.takes = takes
  return merged
}
