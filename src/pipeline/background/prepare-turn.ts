import { randomUUID } from 'node:crypto'
import { factsFrom } from '../../bodies/read-body.ts'
import { end } from '../end.ts'
import type { PathFormat } from '../endpoints.ts'
import type { Gateway } from '../gateway.ts'
import { handleRequest } from '../handle-request.ts'
import { identify } from '../identify.ts'
import { bodyWithoutConversation } from '../kept/body-without-conversation.ts'
import { ClientLeft } from '../life.ts'
import { read } from '../read.ts'

/**
 * Handles a frame that only prepares the next request. It counts against the limits and is read like any
 * other request. No model answers, so it costs nothing, and it has a row only when it is refused.
 */
export function prepareTurn(gateway: Gateway, format: PathFormat) {
  const { client, protocol } = format
  return handleRequest(gateway, format, async (_: Gateway, received) => {
    const identified = await identify(gateway, received)
    const sent = await read(gateway, identified, {
      decode: (body) => client.readRequest(body, gateway.bounds),
      format: { kind: 'text', protocol, compacts: false },
      factsFrom,
    }).catch((error: unknown) => {
      if (error instanceof ClientLeft) return undefined
      throw error
    })
    if (sent === undefined) return end(gateway, received, 'unlogged')
    const { body, large, facts } = sent
    const whole = large === undefined ? body : bodyWithoutConversation(body, facts)
    const settings = client.answerSettings(JSON.parse(whole.toString('utf8')))
    const events = client.state?.sockets?.preparedEvents(randomUUID(), facts.model, settings) ?? []
    await end(gateway, received, 'unlogged')
    const { reply } = received.exchange
    reply.writeHead(200, { 'content-type': 'text/event-stream' })
    reply.end(Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')))
  })
}
