import { join } from 'node:path'
import { areas, type CheckArea, type Finding, findingsOf, messagesIn } from '../../canonical/finding.ts'
import { checkChannelRows } from '../../catalog/check-channel-rows.ts'
import { gatewayFileFindings } from '../../catalog/check-gateway-file.ts'
import { readStoredRows } from '../../catalog/stored-rows.ts'
import { checkConfiguration } from '../../config/check-configuration.ts'
import { checkDatabase } from '../../db/checks/database.ts'
import { checkCertificate } from '../../http/check-certificate.ts'
import { checkPorts } from '../../http/check-ports.ts'
import { checkRedis } from '../../jobs/queue/check-redis.ts'
import { checkDataDir } from '../../journal/check-data-dir.ts'
import { checkMoney } from '../../money/check-money.ts'
import { checkPages } from '../../process/pages/check-pages.ts'
import { systemClock } from '../../runtime/clock.ts'
import { inTime } from '../../runtime/in-time.ts'
import { checkMasters } from '../../secrets/check-masters.ts'
import { checkBuckets } from '../../storage/check-buckets.ts'
import { checkChannels } from '../../upstream/check-channels.ts'
import { checkMachine } from './machine.ts'

export interface Installation {
  env: Readonly<Record<string, string | undefined>>
  /** Contact no channels and no buckets. */
  offline: boolean
  signal: AbortSignal
}

/** Longer than the sum of the timeouts in any one area. */
const areaMs = 45_000

const root = join(import.meta.dirname, '../../..')

/**
 * Checks everything that a gateway with this environment needs, and changes nothing. All areas are checked at
 * the same time. The findings are in the order of the areas. Never rejects.
 */
export async function examine({ env, offline, signal }: Installation): Promise<Finding[]> {
  const { findings, config } = checkConfiguration(env)
  if (config === undefined)
    return [
      ...findings,
      findingsOf('configuration').skipped(
        'configuration.rest',
        'the other checks need a valid configuration',
      ),
    ]
  const gatewayFile = gatewayFileFindings(config, env)
  const online = async (area: CheckArea, check: () => Promise<Finding[]>) =>
    offline
      ? [findingsOf(area).skipped(`${area}.offline`, 'not checked because of --offline')]
      : await check()
  const reading = readStoredRows(config)
  const checks: [CheckArea, () => Promise<Finding[]>][] = [
    ['database', () => checkDatabase(config, [checkMasters])],
    ['redis', () => checkRedis(config)],
    ['data directory', () => checkDataDir(config, systemClock)],
    ['network', async () => [...(await checkPorts(config)), ...checkCertificate(config, systemClock.now())]],
    ['machine', () => checkMachine(config)],
    [
      'channels',
      async () => [
        ...checkChannelRows(config, await reading),
        ...(await online('channels', () => checkChannels(config, gatewayFile.file, signal))),
      ],
    ],
    ['money', async () => checkMoney(gatewayFile.file, await reading)],
    ['storage', () => online('storage', () => checkBuckets(config))],
    ['pages', () => checkPages(config, root)],
  ]
  const found = await Promise.all(checks.map(([area, check]) => bounded(area, check)))
  const all = [...findings, ...gatewayFile.findings, ...found.flat()]
  return areas.flatMap((area) => all.filter((finding) => finding.area === area))
}

async function bounded(area: CheckArea, check: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await inTime(check(), areaMs, area)
  } catch (error) {
    const { warning } = findingsOf(area)
    const advice = {
      why: messagesIn(error),
      fix: 'Run this again.',
      docs: 'docs/reference/command-line.md#doctor',
    }
    return [warning(`${area.replaceAll(' ', '_')}.unknown`, 'this check could not be completed', advice)]
  }
}
