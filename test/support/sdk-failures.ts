import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { Json } from '../../src/canonical/json.ts'

/** A format whose vendor's SDK sends a failing request and reports the failure. */
export interface FailingClient {
  protocol: 'openai-chat' | 'openai-responses' | 'anthropic-messages'
  /** The path of the format's endpoint. */
  path: string
  /** Rejects when the SDK saw no error. */
  ask(at: Place, asked: Asked): Promise<Failure>
}

interface Place {
  /** Without `/v1`. */
  origin: string
  apiKey: string
}

interface Asked {
  model: string
  stream?: boolean
  /** More members of the body. */
  more?: Json
  headers?: Record<string, string>
  /** Text after the endpoint's own path. */
  pathSuffix?: string
}

/** The failure as the SDK shows it. */
export interface Failure {
  /** The class that the SDK raised, or the event of its stream. */
  name: string
  status: number | undefined
  message: string
  requestId: string | null | undefined
  /** Where the error came before the stream. */
  reason?: string | null | undefined
  /** The text that came before the failure. */
  text: string
}

const hello = [{ role: 'user' as const, content: 'Hello' }]

const chat: FailingClient = {
  protocol: 'openai-chat',
  path: '/v1/chat/completions',
  async ask(at, { model, stream = false, more, headers, pathSuffix }) {
    const client = openaiAt(at)
    let text = ''
    try {
      if (pathSuffix) await client.post(`/chat/completions${pathSuffix}`, { body: { model } })
      const asked = client.chat.completions.create({ model, messages: hello, stream, ...more }, { headers })
      const answer = await asked
      if (Symbol.asyncIterator in answer) {
        for await (const chunk of answer) text += chunk.choices[0]?.delta.content ?? ''
      }
    } catch (error) {
      return openaiFailure(error, text)
    }
    throw new Error('the SDK saw no error')
  },
}

const responses: FailingClient = {
  protocol: 'openai-responses',
  path: '/v1/responses',
  async ask(at, { model, stream = false, more, headers, pathSuffix }) {
    const client = openaiAt(at)
    let text = ''
    try {
      if (pathSuffix) await client.post(`/responses${pathSuffix}`, { body: { model } })
      const asked = client.responses.create({ model, input: 'Hello', stream, ...more }, { headers })
      const { data: answer, request_id: requestId } = await asked.withResponse()
      if (Symbol.asyncIterator in answer) {
        for await (const event of answer) {
          if (event.type === 'response.output_text.delta') text += event.delta
          if (event.type !== 'response.failed') continue
          const message = event.response.error?.message ?? ''
          return { name: event.type, status: undefined, message, requestId, text }
        }
      }
    } catch (error) {
      return openaiFailure(error, text)
    }
    throw new Error('the SDK saw no error')
  },
}

const messages: FailingClient = {
  protocol: 'anthropic-messages',
  path: '/v1/messages',
  async ask({ origin, apiKey }, { model, stream = false, more, headers, pathSuffix }) {
    const client = new Anthropic({ baseURL: origin, apiKey, maxRetries: 0 })
    let text = ''
    try {
      if (pathSuffix) await client.post(`/v1/messages${pathSuffix}`, { body: { model } })
      const asked = client.messages.create(
        { model, max_tokens: 16, messages: hello, stream, ...more },
        { headers },
      )
      const answer = await asked
      if (Symbol.asyncIterator in answer) {
        for await (const event of answer) {
          if (event.type === 'content_block_delta' && event.delta.type === 'text_delta')
            text += event.delta.text
        }
      }
    } catch (error) {
      if (!(error instanceof Anthropic.APIError)) throw error
      const { status, apiMessage, requestID } = error
      const name = error.constructor.name
      return { ...{ name, status, text }, message: apiMessage ?? error.message, ...namedIn(error, requestID) }
    }
    throw new Error('the SDK saw no error')
  },
}

export const failingClients: readonly FailingClient[] = [chat, responses, messages]

function openaiAt({ origin, apiKey }: Place): OpenAI {
  return new OpenAI({ baseURL: `${origin}/v1`, apiKey, maxRetries: 0 })
}

function openaiFailure(error: unknown, text: string): Failure {
  if (!(error instanceof OpenAI.APIError)) throw error
  const { status, message, requestID } = error
  return { name: error.constructor.name, status, message, text, ...namedIn(error, requestID) }
}

function namedIn({ headers }: { headers: Headers | undefined }, requestId: string | null | undefined) {
  return { requestId, reason: headers?.get('x-tollgate-reason') }
}
