import Anthropic from '@anthropic-ai/sdk'
import { image, type Loop, question, questionAgain, runTool, type Turn, tools } from './loop.ts'

/** The SDK's `messages`. The content of an answer goes back unchanged. */
export const messagesLoop: Loop = async ({ origin, apiKey, model, stream, fetch }) => {
  const client = new Anthropic({ baseURL: origin, apiKey, fetch, maxRetries: 0 })
  const messages: Anthropic.MessageParam[] = [
    {
      role: 'user',
      content: [
        { type: 'image', source: { type: 'base64', media_type: image.mediaType, data: image.base64 } },
        { type: 'text', text: question },
      ],
    },
  ]
  const turns: Turn[] = []
  const ask = async (more: Anthropic.TextBlockParam[] = []) => {
    const params = {
      model,
      max_tokens: 4096,
      system: 'Be brief.',
      messages,
      tools: Object.entries(tools).map(([name, { description, schema }]) => ({
        name,
        description,
        input_schema: schema,
      })),
      thinking: { type: 'enabled' as const, budget_tokens: 2048 },
    }
    const message = stream
      ? await client.messages.stream(params).finalMessage()
      : await client.messages.create(params)
    const { content } = message
    const calls = content.flatMap((block) => (block.type === 'tool_use' ? [block] : []))
    messages.push({ role: 'assistant', content })
    const results = calls.map(({ id, name, input }) => ({
      type: 'tool_result' as const,
      tool_use_id: id,
      content: runTool(name, input),
    }))
    if (results.length > 0) messages.push({ role: 'user', content: [...results, ...more] })
    turns.push({
      calls: calls.map(({ id, name, input }) => ({ id, name, input })),
      text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      reasoning: content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
      finish: message.stop_reason,
      inputTokens: message.usage.input_tokens,
      outputTokens: message.usage.output_tokens,
    })
  }
  await ask([{ type: 'text', text: questionAgain }])
  await ask()
  await ask()
  return turns
}
