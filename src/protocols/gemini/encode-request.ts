import type { ChatField, ChatRequest } from '../../canonical/chat.ts'
import { mergeTraits, type Traits } from '../../canonical/traits.ts'
import { fitRequest } from '../fit-request.ts'
import { Notes, refused } from '../notes.ts'
import type { EncodeContext, EncodedRequest } from '../protocol.ts'
import { ToolNames } from '../tool-names.ts'
import { encodeConfig } from './encode-config.ts'
import { encodeContents } from './encode-contents.ts'
import { encodeTools } from './encode-tools.ts'
import { fitGoogleSearch } from './web-search.ts'
import { isBefore3, nameRules } from './wire.ts'

/**
 * Encodes the body of a `generateContent` call. Throws GatewayError `unsupported_parameter` for a member that
 * must not be dropped, and `invalid_request` for tool results without a call.
 */
export function encodeRequest(asked: ChatRequest, context: EncodeContext): EncodedRequest {
  const traits = mergeTraits(traitsOfFormat(context.upstreamModel), context.traits)
  const notes = new Notes(asked)
  refuseImpossible(asked, notes)
  const searching = fitGoogleSearch(asked, traits, notes)
  const request = fitRequest(searching, traits, notes, { takesBudgets: true })
  const tools = new ToolNames(nameRules)
  // Tools are encoded before calls, because their definitions determine which name refers to which tool.
  const declared = encodeTools(request, tools, notes)
  const { systemInstruction, contents } = encodeContents(request.turns, { ...context, tools, notes })
  const generationConfig = encodeConfig(request, notes)
  const serviceTier = encodeServiceTier(request, notes)
  dropUnknown(request, notes)
  return {
    body: {
      ...(systemInstruction === undefined ? {} : { systemInstruction }),
      contents,
      ...declared,
      ...(Object.keys(generationConfig).length === 0 ? {} : { generationConfig }),
      ...(serviceTier === undefined ? {} : { serviceTier }),
    },
    notes: notes.list,
    tools,
  }
}

function refuseImpossible(request: ChatRequest, notes: Notes): void {
  if (request.choices > 1) {
    throw refused(notes.pathOf('choices'), 'the Gemini format returns only one answer: send several requests')
  }
  if (request.logprobs !== undefined) {
    throw refused(notes.pathOf('logprobs'), 'log probabilities are not translated between formats')
  }
}

/** Members that the format does not support and that the answer does not depend on. */
const unknownFields = {
  logitBias: 'the Gemini format does not support token biases',
  verbosity: 'the Gemini format has no verbosity setting',
  userId: 'the Gemini format has no field for a user id',
  metadata: 'the Gemini format does not support request labels',
  store: 'the Gemini format does not store answers',
  cacheKey: 'the Gemini format has no cache keys',
} satisfies Partial<Record<ChatField, string>>

function dropUnknown(request: ChatRequest, notes: Notes): void {
  const fields = Object.entries(unknownFields) as [keyof typeof unknownFields, string][]
  for (const [field, reason] of fields) if (request[field] !== undefined) notes.dropField(field, reason)
}

function encodeServiceTier({ serviceTier }: ChatRequest, notes: Notes): string | undefined {
  switch (serviceTier) {
    case undefined:
      return undefined
    case 'flex':
    case 'priority':
      return serviceTier
    case 'auto':
    case 'default':
    case 'standard':
    case 'standard_only':
      notes.add('mapped', notes.pathOf('serviceTier'), 'the upstream uses this tier by default')
      return undefined
    default:
      notes.dropField('serviceTier', 'the Gemini format does not support this tier')
      return undefined
  }
}

/**
 * The default traits of an upstream of this format if nothing else is known about the model. Most of them
 * depend on the generation of the model, which is part of its name.
 *
 * https://ai.google.dev/gemini-api/docs/thinking, read 2026-11-21. Before Gemini 3, tools together with a
 * JSON format result in 400 "Function calling with a response mime type: 'application/json' is unsupported":
 * https://github.com/googleapis/python-genai/issues/867, read 2026-11-22
 */
function traitsOfFormat(upstreamModel: string): Traits {
  if (!isBefore3(upstreamModel)) return now
  return upstreamModel.includes('pro') ? earlierPro : earlier
}

/** Most models refuse MINIMAL, and all of them always think. */
const now: Traits = {
  stopMax: 5,
  thinking: 'effort',
  effortLevels: ['low', 'medium', 'high'],
  thinkingOff: false,
}

const earlier: Traits = {
  stopMax: 5,
  thinking: 'budget',
  thinkingBudgetMin: 0,
  thinkingBudgetMax: 24_576,
  toolsWithFormat: false,
}

const earlierPro: Traits = {
  ...earlier,
  thinkingOff: false,
  thinkingBudgetMin: 128,
  thinkingBudgetMax: 32_768,
}
