import { command } from './command.ts'
import { exitCodes, wrongUsage } from './exit-codes.ts'
import { GatewayClient, gatewayOptions } from './gateway.ts'
import { json, required, value } from './options.ts'

/** The argument that names a channel. */
export const channelArgument = required('CHANNEL', 'the name of the channel, or its id')

export const channelsBlock = command({
  name: 'channels block',
  group: 'Repair',
  does: 'take a channel out of use now, also one of gateway.yaml',
  details:
    'No process sends it requests after a second; running requests can finish. It stays blocked until `tollgate channels unblock`, whatever gateway.yaml says.',
  changes: true,
  options: { reason: value('TEXT', 'why, for people; required'), json, ...gatewayOptions },
  arguments: { channel: channelArgument },
  async run({ options, arguments: { channel }, terminal, ...call }) {
    const { reason } = options
    if (reason === undefined || reason.trim() === '')
      throw wrongUsage(
        '--reason TEXT is required: it says why the channel is blocked, to the person who finds it',
      )
    const gateway = new GatewayClient({ options, ...call })
    const { ask, anyChannel } = await import('./gateway-answers.ts')
    const path = `channels/${encodeURIComponent(channel)}/block`
    const blocked = await ask(anyChannel, gateway, 'POST', path, { body: { reason } })
    if (options.json) terminal.printJson(blocked)
    else
      terminal.print(
        `Channel ${blocked.name} has been blocked since ${blocked.blocked?.at}. Running requests can finish.`,
      )
    return exitCodes.done
  },
})
