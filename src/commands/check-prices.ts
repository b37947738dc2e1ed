import { parseArgs } from 'node:util'
import { readGatewaySource } from '../catalog/gateway-source.ts'
import { bundledLibrary, libraryVersion } from '../catalog/library/bundled.ts'
import { comparePrices, type PriceDifference } from '../catalog/library/compare-prices.ts'
import { configFromEnvironment } from '../config.ts'
import { usd } from '../ledger/price.ts'

/**
 * `npm run prices:check` compares the prices in gateway.yaml with the library's, for each channel that the library knows. It
 * prints what differs, and exits with 1 when something does, with 2 when it cannot compare. The file is the argument, else
 * GATEWAY_CONFIG.
 */
async function main(): Promise<void> {
  const { positionals } = parseArgs({ allowPositionals: true })
  const { config, environment } = configFromEnvironment()
  const path = positionals[0] ?? config.gatewayConfig
  if (path === undefined) throw new Error('name the file: npm run prices:check -- gateway.yaml')
  const file = readGatewaySource(path, environment).parse()
  const { compared, differences } = comparePrices(file, await bundledLibrary(), Date.now())
  if (differences.length > 0) {
    const head = ['model', 'channel', 'part', 'file', 'library', 'source']
    print([head, ...differences.map(rowOf)])
    process.exitCode = 1
  }
  console.log(
    `${compared} prices compared with @pydantic/genai-prices ${libraryVersion}; ${differences.length} parts differ`,
  )
}

function rowOf({ model, channel, part, file, library, source }: PriceDifference): string[] {
  return [model, channel, part, amountOf(file), amountOf(library), source]
}

const amountOf = (nano: bigint | undefined) => (nano === undefined ? '-' : usd(nano))

function print(rows: readonly string[][]): void {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? []
  for (const row of rows) {
    console.log(
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
  }
}

main().catch((error: unknown) => {
  console.error(`Prices cannot be compared: ${error instanceof Error ? error.message : String(error)}`)
  process.exit(2)
})
