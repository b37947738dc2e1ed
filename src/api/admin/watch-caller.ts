import type { Actor } from '../../access/actor.ts'
import { GatewayError, gatewayError } from '../../canonical/error.ts'

const watchMs = 2_000

/**
 * Aborts when the caller of a long-running response is no longer authorised: the session has ended, the token
 * is revoked, or the user is disabled or has another role or tenant. `ask` rejects as for a new call. While
 * this cannot be determined, for example because Postgres is down, the response continues.
 */
export function watchCaller(caller: Actor, ask: () => Promise<Actor>): { signal: AbortSignal; stop(): void } {
  const refused = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const plan = () => {
    timer = setTimeout(() => void look(), watchMs).unref()
  }
  const look = async () => {
    const refusal = await refusalOf(caller, ask)
    if (isStopped) return
    if (refusal === undefined) plan()
    else refused.abort(refusal)
  }
  plan()
  return {
    signal: refused.signal,
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

async function refusalOf(caller: Actor, ask: () => Promise<Actor>): Promise<GatewayError | undefined> {
  try {
    const { role, tenantId } = await ask()
    if (role === caller.role && tenantId === caller.tenantId) return undefined
    return gatewayError('rights_changed')
  } catch (cause) {
    return cause instanceof GatewayError && refusals.has(cause.kind) ? cause : undefined
  }
}

const refusals: ReadonlySet<string> = new Set(['unauthenticated', 'permission_denied'])
