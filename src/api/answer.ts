import type { Request, Response } from 'express'
import { authenticate, tokenFrom } from '../access/authenticate.ts'
import type { Identity } from '../access/identity.ts'
import { requireCapacity } from '../stages/admit.ts'
import { asGatewayError, type Call, type Ending } from '../stages/call.ts'
import { endpointOf } from '../stages/endpoints.ts'
import type { Gateway } from '../stages/gateway.ts'
import { answeredBefore, isKeyed } from '../stages/idempotency.ts'
import { checkTags } from '../stages/labels.ts'
import { nothingMetered } from '../stages/meter.ts'
import { beginCall, refuse, settle } from '../stages/settle.ts'
import { readWhole } from './call.ts'

type Handler = (request: Request, response: Response) => Promise<void>

/**
 * Our own endpoints in front of the same ledger: every call has a row, and every error the caller's format. Only
 * successful reads of the usage log are not logged in it, or nobody could read it to the end.
 */
export function ownApi(gateway: Gateway) {
  const calls = new WeakMap<Request, Call>()

  return {
    answer: (path: string, handler: Handler): Handler => wrap(path, handler, true),
    answerUnlogged: (path: string, handler: Handler): Handler => wrap(path, handler, false),
    ownCall,
    /** Who calls, for a handler inside `answer`. */
    authenticate: async (request: Request): Promise<Identity> => (await ownCall(request)).identity,
  }

  /** The call behind a request, for a handler inside `answer`, and who makes it. */
  async function ownCall(request: Request): Promise<{ call: Call; identity: Identity }> {
    const { catalog, keys } = gateway
    const call = calls.get(request)
    if (call === undefined) throw new Error('ownCall is for handlers inside answer')
    if (call.identity !== null) return { call, identity: call.identity }
    call.token = tokenFrom(request.headers) ?? null
    const identity = await authenticate(
      keys,
      catalog.snapshot,
      request.headers,
      call.clientAddress,
      call.startedAt,
    )
    call.identity = identity
    return { call, identity }
  }

  /** True: the request was answered before, and has been answered now. */
  async function repeated(request: Request, call: Call): Promise<boolean> {
    await ownCall(request)
    await readWhole(gateway, call)
    return await answeredBefore(gateway, call)
  }

  function wrap(path: string, handler: Handler, logged: boolean): Handler {
    return async (request, response) => {
      const call = beginCall(gateway, endpointOf(path, request.headers), request, response)
      calls.set(request, call)
      response.setHeader('x-request-id', call.id)
      const { requestIdHeader } = call.endpoint.client
      if (requestIdHeader !== undefined) response.setHeader(requestIdHeader, call.id)
      try {
        // Also what is refused for want of capacity is a row of its key.
        if (logged) await ownCall(request)
        requireCapacity(gateway)
        if (logged) checkTags(request.headers)
        if (request.method === 'POST' && isKeyed(call) && (await repeated(request, call))) return
        await handler(request, response)
        if (logged) await settle(gateway, call, endingOf(call))
        else forget(gateway, call)
      } catch (cause) {
        const error = asGatewayError(cause)
        if (call.clientGone && error.kind !== 'internal') await settle(gateway, call, endingOf(call))
        else {
          const target = call.asked
          await refuse(gateway, call, error, { target, metered: nothingMetered, refusal: undefined })
        }
      }
    }
  }
}

/** Of a call that was answered, unless its client had left. Neither costs anything. */
function endingOf({ clientGone, asked }: Call): Ending {
  return {
    status: clientGone ? 499 : 200,
    outcome: clientGone ? 'cancelled' : 'succeeded',
    error: null,
    observation: null,
    streamEnd: clientGone ? 'client_gone' : 'complete',
    target: asked,
    metered: nothingMetered,
  }
}

function forget(gateway: Gateway, call: Call): void {
  call.settled = true
  gateway.calls.delete(call)
}
