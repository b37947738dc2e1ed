import type { PriceDifference } from '../catalog/library/compare-prices.ts'
import { command } from './command.ts'
import { commandConfig, messageWithCauses } from './command-database.ts'
import { exitCodes, wrongUsage } from './exit-codes.ts'
import { json, optional } from './options.ts'
import { tableText } from './terminal.ts'

export const pricesCheck = command({
  name: 'prices check',
  group: 'Look',
  does: 'compare the prices of a gateway.yaml with those of the library',
  details:
    'It compares the prices of each model on each channel whose vendor the library knows. It needs no database. Exit code 1: a price differs.',
  options: { json },
  arguments: { file: optional('FILE', 'a gateway.yaml; default GATEWAY_CONFIG', { completes: 'files' }) },
  async run({ options: { json }, arguments: { file: named }, terminal, env }) {
    const path = named ?? (await commandConfig(env)).gatewayConfig
    if (path === undefined) throw wrongUsage('a file is required, as in: tollgate prices check gateway.yaml')
    const [{ readGatewaySource }, { bundledLibrary, libraryVersion }, { comparePrices }, { usd }] =
      await Promise.all([
        import('../catalog/gateway-source.ts'),
        import('../catalog/library/bundled.ts'),
        import('../catalog/library/compare-prices.ts'),
        import('../money/price.ts'),
      ])
    const amountOf = (nano: bigint | undefined) => (nano === undefined ? null : usd(nano))
    const cells = ({ model, channel, part, file, library, source }: PriceDifference) => ({
      model,
      channel,
      part,
      file: amountOf(file),
      library: amountOf(library),
      source,
    })
    const file = reading(() => readGatewaySource(path, env).parse())
    const { compared, differences } = comparePrices(file, await bundledLibrary(), Date.now())
    const rows = differences.map(cells)
    if (json) terminal.printJson({ library: libraryVersion, compared, differences: rows })
    else {
      const head = ['model', 'channel', 'part', 'file', 'library', 'source']
      const table = [head, ...rows.map((row) => Object.values(row).map((cell) => cell ?? '-'))]
      if (rows.length > 0) for (const line of tableText(table, terminal.look)) terminal.print(line)
      terminal.print(
        `${compared} prices compared with @pydantic/genai-prices ${libraryVersion}; ${rows.length} differ`,
      )
    }
    return rows.length === 0 ? exitCodes.done : exitCodes.notWell
  },
})

function reading<Read>(read: () => Read): Read {
  try {
    return read()
  } catch (error) {
    throw wrongUsage(messageWithCauses(error), error)
  }
}
