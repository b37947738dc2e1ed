import { command } from './command.ts'
import { exitCodes } from './exit-codes.ts'
import { GatewayClient, gatewayOptions } from './gateway.ts'
import type { Key } from './gateway-answers.ts'
import { stateOf } from './key-state.ts'
import { flag, json, value } from './options.ts'
import { tableText } from './terminal.ts'

export const keysList = command({
  name: 'keys list',
  group: 'Keys and money',
  does: 'list the keys of a running gateway',
  details: 'Revoked keys are listed only with --all. --json prints a line of JSON for each key.',
  options: {
    tenant: value('TENANT', 'only the keys of this tenant, given by name or id'),
    group: value('GROUP', 'only the keys of this group, given by name or id'),
    search: value('TEXT', 'only keys whose name contains this text'),
    hint: value('TEXT', 'only the key whose secret starts with this text, such as tg-1a2b'),
    all: flag('include revoked keys'),
    json,
    ...gatewayOptions,
  },
  arguments: {},
  async run({ options, terminal, ...call }) {
    const gateway = new GatewayClient({ options, ...call })
    const { ask, keyPage } = await import('./gateway-answers.ts')
    const { tenant, group, search, hint, all } = options
    const filters = { tenant, group, search, hint, ...(!all && { revoked: 'false' }) }
    const rows: Key[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const query = new URLSearchParams({ limit: '200' })
      for (const [name, text] of Object.entries({ ...filters, cursor }))
        if (text !== undefined) query.set(name, text)
      const page = await ask(keyPage, gateway, 'GET', 'keys', { query })
      if (options.json) for (const row of page.data) terminal.printJsonLine(row)
      else rows.push(...page.data)
      cursor = page.next_cursor
    }
    if (options.json) return exitCodes.done
    const head = ['key', 'group', 'secret', 'state', 'made']
    const shown = rows.map((key) => [
      `${key.tenant}/${key.name}`,
      key.group,
      key.hint,
      stateOf(key),
      key.created_at.slice(0, 10),
    ])
    if (shown.length > 0) for (const line of tableText([head, ...shown], terminal.look)) terminal.print(line)
    terminal.tell(`${shown.length} keys`)
    return exitCodes.done
  },
})
