import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import {
  generateText,
  isStepCount,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  type StepResult,
  streamText,
  type ToolSet,
  tool,
} from 'ai'
import {
  image,
  type Loop,
  type LoopOptions,
  question,
  questionAgain,
  runTool,
  type Turn,
  tools,
} from './loop.ts'

// The SDK warns about thoughts without a signature. Those of Gemini have none: their signatures come separately.
globalThis.AI_SDK_LOG_WARNINGS = false

/** `@ai-sdk/openai` on `chat/completions`. It shows no reasoning and gives none back: the vendor has none here. */
export const aiChatLoop: Loop = (options) =>
  loop(options, openaiOf(options).chat(options.model), {
    openai: { forceReasoning: true, reasoningEffort: 'medium' },
  })

/** `@ai-sdk/openai` on `responses`. */
export const aiResponsesLoop: Loop = (options) =>
  loop(options, openaiOf(options).responses(options.model), {
    openai: { forceReasoning: true, reasoningEffort: 'medium', reasoningSummary: 'auto', store: false },
  })

/** `@ai-sdk/anthropic`. */
export const aiMessagesLoop: Loop = (options) => {
  const { origin, apiKey, fetch, model } = options
  const anthropic = createAnthropic({ baseURL: `${origin}/v1`, apiKey, fetch })
  return loop(options, anthropic(model), {
    anthropic: { thinking: { type: 'enabled', budgetTokens: 2048 } },
  })
}

/** `@ai-sdk/openai-compatible`, which keeps the text of reasoning and gives it back. */
export const aiCompatibleLoop: Loop = (options) => {
  const { origin, apiKey, fetch, model } = options
  const provider = createOpenAICompatible({
    name: 'tollgate',
    baseURL: `${origin}/v1`,
    apiKey,
    fetch,
    includeUsage: true,
  })
  return loop(options, provider(model), { tollgate: { reasoningEffort: 'medium' } })
}

async function loop(
  { stream }: LoopOptions,
  model: LanguageModel,
  providerOptions: Record<
    string,
    Record<string, boolean | string | { type: 'enabled'; budgetTokens: number }>
  >,
): Promise<Turn[]> {
  const messages: ModelMessage[] = [
    {
      role: 'user',
      content: [
        { type: 'text', text: question },
        { type: 'file', mediaType: image.mediaType, data: image.base64 },
      ],
    },
  ]
  const turns: Turn[] = []
  /** The SDK runs the tools itself, and continues with their results until it has this number of answers. */
  const ask = async (answers: number) => {
    const params = {
      model,
      instructions: 'Be brief.',
      messages,
      tools: toolSet,
      stopWhen: isStepCount(answers),
      maxOutputTokens: 4096,
      maxRetries: 0,
      providerOptions,
    }
    const { steps, responseMessages } = stream ? await streamed(params) : await generateText(params)
    messages.push(...responseMessages)
    turns.push(...steps.map(turnOf))
  }
  await ask(1)
  messages.push({ role: 'user', content: questionAgain })
  await ask(2)
  return turns
}

async function streamed(params: Parameters<typeof streamText<typeof toolSet>>[0]) {
  let failure: unknown
  const result = streamText({
    ...params,
    onError: ({ error }) => {
      failure ??= error
    },
  })
  await result.consumeStream()
  if (failure !== undefined) throw failure
  return { steps: await result.steps, responseMessages: await result.responseMessages }
}

function turnOf(step: StepResult<ToolSet>): Turn {
  return {
    calls: step.toolCalls.map(({ toolCallId, toolName, input }) => ({
      id: toolCallId,
      name: toolName,
      input,
    })),
    text: step.text,
    reasoning: step.reasoningText,
    finish: step.finishReason,
    inputTokens: step.usage.inputTokens,
    outputTokens: step.usage.outputTokens,
  }
}

function openaiOf({ origin, apiKey, fetch }: LoopOptions) {
  return createOpenAI({ baseURL: `${origin}/v1`, apiKey, fetch })
}

const toolSet: ToolSet = Object.fromEntries(
  Object.entries(tools).map(([name, { description, schema }]) => [
    name,
    tool({ description, inputSchema: jsonSchema(schema), execute: (input) => runTool(name, input) }),
  ]),
)
