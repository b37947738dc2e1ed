import { useQuery } from '@tanstack/react-query'
import { useMay } from '../../api/session.ts'
import { settingsQuery } from '../settings/settings-query.ts'

/** False: the gateway gives no channel of its API a private address. True also while that is not known. */
export function usePrivateAddresses(): boolean {
  const settings = useQuery({ ...settingsQuery, enabled: useMay()('settings') })
  const blocks = settings.data?.data.environment.find(({ name }) => name === 'PRIVATE_ADDRESSES')?.value
  return settings.data === undefined || (Array.isArray(blocks) && blocks.length > 0)
}

/** What the operator can do. */
export const howToAllow =
  'This gateway allows its channels no private address. Set PRIVATE_ADDRESSES to the blocks that they may call, such as 10.0.0.0/8, and restart the gateway, or put the channel into gateway.yaml.'
