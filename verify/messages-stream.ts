import { z } from 'zod'
import { shaped, WrongShape } from './format.ts'
import { jsonIn } from './json.ts'
import type { ServerEvent } from './server-events.ts'

/**
 * Builds the message from a Messages stream, like the vendor's SDK. Throws a WrongShape error if events are
 * out of order, blocks overlap, or the stream ends too early.
 */
export function assembleMessage(events: readonly ServerEvent[]): { message: unknown; pieces: number } {
  let message: Record<string, unknown> | undefined
  let open: { index: number; block: Record<string, unknown>; input: string } | undefined
  const content: unknown[] = []
  let pieces = 0
  let isStopped = false
  for (const [at, { event, data }] of events.entries()) {
    if (isStopped) throw new WrongShape('the stream continues after message_stop')
    const part = shaped(streamEvent, jsonIn(data), `event ${at + 1}`)
    const { type } = part
    if (event !== type)
      throw new WrongShape(`event ${at + 1} is named ${event || 'nothing'}, but its type is ${type}`)
    if (type === 'ping') continue
    if (type === 'error') throw new WrongShape(`an error in the stream: ${data.slice(0, 200)}`)
    if (type === 'message_start') {
      if (message !== undefined) throw new WrongShape('a second message_start')
      message = shaped(z.looseObject({}), part.message, type)
      continue
    }
    if (message === undefined) throw new WrongShape(`${type} precedes message_start`)
    switch (type) {
      case 'content_block_start':
        if (open !== undefined)
          throw new WrongShape(`block ${part.index} begins before block ${open.index} ends`)
        if (part.index !== content.length)
          throw new WrongShape(`block ${part.index} begins, but block ${content.length} was expected`)
        open = { index: content.length, block: { ...part.content_block }, input: '' }
        break
      case 'content_block_delta': {
        if (open === undefined || open.index !== part.index)
          throw new WrongShape(`there is a delta for block ${part.index}, which is not open`)
        const { text, thinking, signature, partial_json } = part.delta ?? {}
        if (text !== undefined) pieces++
        for (const [name, value] of Object.entries({ text, thinking, signature }))
          if (value !== undefined) open.block[name] = `${open.block[name] ?? ''}${value}`
        open.input += partial_json ?? ''
        break
      }
      case 'content_block_stop':
        if (open === undefined || open.index !== part.index)
          throw new WrongShape(`block ${part.index} ends, but was not open`)
        content.push(open.input === '' ? open.block : { ...open.block, input: jsonIn(open.input) })
        open = undefined
        break
      case 'message_delta':
        message = {
          ...message,
          ...definedOf(part.delta),
          usage: { ...usageOf(message), ...definedOf(part.usage) },
        }
        break
      case 'message_stop':
        isStopped = true
        break
    }
  }
  if (message === undefined || !isStopped) throw new WrongShape('the stream ends without message_stop')
  if (open !== undefined) throw new WrongShape(`message_stop precedes the end of block ${open.index}`)
  return { message: { ...message, content }, pieces }
}

const streamEvent = z.looseObject({
  type: z.string(),
  index: z.int().optional(),
  message: z.unknown().optional(),
  content_block: z.looseObject({ type: z.string() }).optional(),
  delta: z
    .looseObject({
      text: z.string().optional(),
      thinking: z.string().optional(),
      signature: z.string().optional(),
      partial_json: z.string().optional(),
    })
    .optional(),
  usage: z.looseObject({}).nullish(),
})

function usageOf({ usage }: Record<string, unknown>): object {
  return typeof usage === 'object' && usage !== null ? usage : {}
}

/** A null in message_delta keeps the value from message_start, except for the stop reason. */
function definedOf(members: Record<string, unknown> | null | undefined): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members ?? {}).filter(([, value]) => value !== null))
}
