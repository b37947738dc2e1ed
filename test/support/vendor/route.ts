import type { IncomingMessage } from 'node:http'
import type { Json } from '../../../src/canonical/json.ts'
import { chat } from './chat/write.ts'
import { Refusal } from './check.ts'
import type { Dialect } from './dialect.ts'
import { gemini } from './gemini/write.ts'
import { messages } from './messages/write.ts'
import type { HeldResponses } from './responses/held.ts'
import { responses } from './responses/write.ts'

/** How to answer a call to a path. */
export interface Route {
  dialect: Dialect
  action: Action
  model: string | undefined
  stream: boolean | undefined
}

/** A function answers without the body. It throws Refusal. */
export type Action =
  | 'answer'
  | 'complete'
  | 'images'
  | 'count-messages'
  | 'count-responses'
  | 'count-gemini'
  | (() => Json)

/** An unknown path gets an action that refuses, in the format that has similar paths. Never throws. */
export function routeOf(request: IncomingMessage, held: HeldResponses, isOpen: boolean): Route {
  const path = (request.url ?? '').split('?')[0] ?? ''
  const route = (dialect: Dialect, action: Action): Route => ({
    dialect,
    action,
    model: undefined,
    stream: undefined,
  })
  if (request.method === 'POST') {
    switch (path) {
      case '/v1/chat/completions':
        return route(chat, 'answer')
      case '/v1/completions':
        return route(chat, 'complete')
      case '/v1/responses':
        return route(responses(held, isOpen), 'answer')
      case '/v1/responses/input_tokens':
        return route(responses(held, isOpen), 'count-responses')
      case '/v1/images/generations':
        // Images and chats have the same error envelope.
        return route(chat, 'images')
      case '/v1/messages':
        return route(messages, 'answer')
      case '/v1/messages/count_tokens':
        return route(messages, 'count-messages')
    }
    const [, name, verb] =
      /^\/v1beta\/models\/([^/:]+):(generateContent|streamGenerateContent|countTokens)$/.exec(path) ?? []
    if (name !== undefined) {
      const action = verb === 'countTokens' ? 'count-gemini' : 'answer'
      return { dialect: gemini, action, model: decode(name), stream: verb === 'streamGenerateContent' }
    }
  }
  const [, id] = /^\/v1\/responses\/([^/]+)$/.exec(path) ?? []
  if (id !== undefined && request.method === 'GET') return route(responses(held, isOpen), () => held.get(id))
  if (id !== undefined && request.method === 'DELETE')
    return route(responses(held, isOpen), () => held.delete(id))
  return route(dialectOf(path, held, isOpen), () => {
    throw new Refusal(404, `The strict vendor has only ${paths}, not ${request.method} ${path}`)
  })
}

const paths =
  'POST /v1/chat/completions, /v1/completions, /v1/responses, /v1/images/generations, /v1/messages and /v1beta/models/{model}:generateContent or :streamGenerateContent'

function dialectOf(path: string, held: HeldResponses, isOpen: boolean): Dialect {
  if (path.startsWith('/v1beta/')) return gemini
  if (path.startsWith('/v1/messages')) return messages
  return path.startsWith('/v1/responses') ? responses(held, isOpen) : chat
}

function decode(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
