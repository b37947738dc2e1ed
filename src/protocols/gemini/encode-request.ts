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
 * Encode the body of a `generateContent` call. Throws GatewayError `unsupported_parameter` for a member that
 * it may not drop, and `invalid_request` for tool results without a call.
 */
export function encodeRequest(asked: ChatRequest, context: EncodeContext): EncodedRequest {
  const traits = mergeTraits(traitsOfFormat(context.upstreamModel), context.traits)
  const notes = new Notes(asked)
  refuseImpossible(asked, notes)
  const searching = fitGoogleSearch(asked, traits, notes)
  const request = fitRequest(searching, traits, notes, { takesBudgets: true })
  const tools = new ToolNames(nameRules)
  // Tools come before calls: their definitions decide which name means which tool.
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
    throw refused(notes.pathOf('choices'), 'only one answer can be had from a channel of the Gemini format')
  }
  if (request.logprobs !== undefined) {
    throw refused(notes.pathOf('logprobs'), 'log probabilities are not translated between formats')
  }
}

/** Members that the format lacks and without which the answer is as good. */
const unknownFields = {
  logitBias: 'the Gemini format has no bias of tokens',
  verbosity: 'the Gemini format has no verbosity',
  userId: 'the Gemini format has no place for a user',
  metadata: 'the Gemini format has no labels for a request',
  store: 'the Gemini format keeps no answers',
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
      notes.dropField('serviceTier', 'the Gemini format has no such tier')
      return undefined
  }
}

/**
 * What holds on an upstream of this format where nothing else is known of the model. The generation of a
 * model decides most of it, and its name shows the generation.
 *
 * https://ai.google.dev/gemini-api/docs/thinking, read 2026-11-21. Before Gemini 3, tools together with a
 * JSON format are 400 "Function calling with a response mime type: 'application/json' is unsupported":
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
