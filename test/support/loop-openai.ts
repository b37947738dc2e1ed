import OpenAI from 'openai'
import {
  imageUrl,
  type Loop,
  type LoopOptions,
  question,
  questionAgain,
  runTool,
  type Turn,
  tools,
} from './loop.ts'

type ChatMessage = OpenAI.ChatCompletionMessageParam
type ChatParams = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'stream'>
type ResponsesParams = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'stream'>

/** The SDK's `chat.completions`, by an agent that keeps the whole message and gives it back. */
export const chatLoop: Loop = async (options) => {
  const client = clientOf(options)
  const messages: ChatMessage[] = [
    { role: 'developer', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: question },
        { type: 'image_url', image_url: { url: imageUrl } },
      ],
    },
  ]
  const turns: Turn[] = []
  const ask = async () => {
    const params: ChatParams = {
      model: options.model,
      messages,
      tools: Object.entries(tools).map(([name, { description, schema }]) => ({
        type: 'function',
        function: { name, description, parameters: schema, strict: false },
      })),
      reasoning_effort: 'medium',
    }
    const completion = await (options.stream
      ? streamedChat(client, params)
      : client.chat.completions.create(params))
    const [choice] = completion.choices
    if (choice === undefined) throw new Error('no choice')
    const { message } = choice
    messages.push(message)
    const calls = (message.tool_calls ?? []).flatMap((call) =>
      call.type === 'function'
        ? [{ id: call.id, name: call.function.name, input: JSON.parse(call.function.arguments) }]
        : [],
    )
    turns.push({
      calls,
      text: message.content ?? '',
      reasoning: reasoningIn(message),
      finish: choice.finish_reason,
      inputTokens: completion.usage?.prompt_tokens,
      outputTokens: completion.usage?.completion_tokens,
    })
    for (const { id, name, input } of calls) {
      messages.push({ role: 'tool', tool_call_id: id, content: runTool(name, input) })
    }
  }
  await ask()
  messages.push({ role: 'user', content: questionAgain })
  await ask()
  await ask()
  return turns
}

/** The SDK's `responses`, without an answer being held anywhere: the items go back as they came. */
export const responsesLoop: Loop = async (options) => {
  const client = clientOf(options)
  const input: OpenAI.Responses.ResponseInput = [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: question },
        { type: 'input_image', image_url: imageUrl, detail: 'auto' },
      ],
    },
  ]
  const turns: Turn[] = []
  const ask = async () => {
    const params: ResponsesParams = {
      model: options.model,
      instructions: 'Be brief.',
      input,
      tools: Object.entries(tools).map(([name, { description, schema }]) => ({
        type: 'function',
        name,
        description,
        parameters: schema,
        strict: true,
      })),
      reasoning: { effort: 'medium', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      store: false,
    }
    const response = options.stream
      ? await client.responses.stream(params).finalResponse()
      : await client.responses.create(params)
    for (const item of response.output) {
      if (item.type === 'reasoning' || item.type === 'function_call' || item.type === 'message')
        input.push(item)
    }
    const calls = response.output.flatMap((item) =>
      item.type === 'function_call'
        ? [{ id: item.call_id, name: item.name, input: JSON.parse(item.arguments) }]
        : [],
    )
    const thoughts = response.output.flatMap((item) =>
      item.type === 'reasoning' ? [...item.summary, ...(item.content ?? [])].map(({ text }) => text) : [],
    )
    turns.push({
      calls,
      text: response.output_text,
      reasoning: thoughts.join(''),
      finish: response.status ?? null,
      inputTokens: response.usage?.input_tokens,
      outputTokens: response.usage?.output_tokens,
    })
    for (const { id, name, input: args } of calls) {
      input.push({ type: 'function_call_output', call_id: id, output: runTool(name, args) })
    }
  }
  await ask()
  input.push({ role: 'user', content: questionAgain })
  await ask()
  await ask()
  return turns
}

function clientOf({ origin, apiKey, fetch }: LoopOptions): OpenAI {
  return new OpenAI({ baseURL: `${origin}/v1`, apiKey, fetch, maxRetries: 0 })
}

/** The SDK's own accumulation knows nothing of reasoning: an agent that wants it keeps those members itself. */
async function streamedChat(client: OpenAI, params: ChatParams): Promise<OpenAI.ChatCompletion> {
  const stream = client.chat.completions.stream({ ...params, stream_options: { include_usage: true } })
  let reasoning = ''
  const details: unknown[] = []
  for await (const chunk of stream) {
    const delta: object = chunk.choices[0]?.delta ?? {}
    if ('reasoning_content' in delta && typeof delta.reasoning_content === 'string')
      reasoning += delta.reasoning_content
    if ('reasoning_details' in delta && Array.isArray(delta.reasoning_details))
      details.push(...delta.reasoning_details)
  }
  const completion = await stream.finalChatCompletion()
  const [choice] = completion.choices
  if (choice !== undefined) {
    Object.assign(choice.message, {
      ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
      ...(details.length === 0 ? {} : { reasoning_details: details }),
    })
  }
  return completion
}

function reasoningIn(message: object): string {
  return 'reasoning_content' in message && typeof message.reasoning_content === 'string'
    ? message.reasoning_content
    : ''
}
