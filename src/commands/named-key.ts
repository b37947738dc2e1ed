import { CommandError, exitCodes, wrongUsage } from './exit-codes.ts'
import type { GatewayClient } from './gateway.ts'
import { ask, type Key, keyPage } from './gateway-answers.ts'

/** Returns the key with the given name or id. Rejects with a CommandError if there is none. */
export async function namedKey(gateway: GatewayClient, called: string): Promise<Pick<Key, 'id'>> {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(called)) return { id: called.toLowerCase() }
  const at = called.indexOf('/')
  if (at < 1) throw wrongUsage(`KEY must be TENANT/NAME or an id, not ${JSON.stringify(called)}`)
  const query = new URLSearchParams({ tenant: called.slice(0, at), name: called.slice(at + 1), limit: '2' })
  const { data } = await ask(keyPage, gateway, 'GET', 'keys', { query })
  const [key] = data
  if (key === undefined)
    throw new CommandError(
      exitCodes.refused,
      `key ${JSON.stringify(called)} does not exist. Run \`tollgate keys list\` to list all keys.`,
    )
  return key
}
